"""The supervised contrastive loss: by hand, by loop, against pytorch-metric-learning, collapsed."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from loss_batches import NONE, batch_of, circle, random_batch
from pytorch_metric_learning.losses import SupConLoss
from pytorch_metric_learning.reducers import MeanReducer
from shapes import checked

from models.losses.parts.members import positives_and_negatives
from models.losses.supervised_contrastive import (
    SupervisedContrastiveSettings,
    supervised_contrastive,
)
from models.network.kinds import loss_parts
from models.network.loss import PairBatch


def one_apart(size: int) -> torch.Tensor:
    """Make `apart` of a batch whose last string is apart from all others."""
    last = torch.arange(size) == size - 1
    return last[:, None] != last


def test_by_hand() -> None:
    """Pair 0° with 60° and with 90°; 180° is apart from these three; τ = 0.5, s/τ = 2 cos.

    From 0°: 1 and 0 to the positives, -2 to the negative: log(e¹ + e⁰ + e⁻²) - ½ = 0.849012.
    From 60°, which has nothing to do with 90°: log(e¹ + e⁻¹) - 1 = 0.126928.
    From 90°: log(e⁰ + e⁰) - 0 = 0.693147. The mean of the three is 0.556362.
    Of it -(½ + 1 + 0) / 3 = -0.5 is pull.
    """
    batch = batch_of([(0, 1), (2, 0)], one_apart(4))
    settings = SupervisedContrastiveSettings(0.5)
    loss = checked(supervised_contrastive)(circle(0, 60, 90, 180), batch, settings)
    assert loss.total.item() == pytest.approx(0.556362, abs=1e-6)
    assert loss.similar.item() == pytest.approx(-0.5)
    assert loss.dissimilar.item() == pytest.approx(1.056362, abs=1e-6)


def test_positives_and_negatives_by_hand() -> None:
    """Take (0, 1) and (1, 0), one pair; (0, 2), a pair though apart; 3 is apart from 0 alone."""
    apart = torch.zeros(4, 4, dtype=torch.bool)
    for i, j in ((0, 2), (0, 3)):
        apart[i, j] = apart[j, i] = True
    masks = checked(positives_and_negatives)(batch_of([(0, 1), (1, 0), (0, 2)], apart))
    assert masks[0].nonzero().tolist() == [[0, 1], [0, 2], [1, 0], [2, 0]]
    assert masks[1].nonzero().tolist() == [[0, 3], [3, 0]]


def by_loop(embeddings: torch.Tensor, batch: PairBatch, tau: float) -> float:
    def weight(i: int, j: int) -> float:
        return math.exp(torch.cosine_similarity(embeddings[i], embeddings[j], dim=0).item() / tau)

    pairs = set(zip(batch.left.tolist(), batch.right.tolist(), strict=True))
    costs = []
    for i in range(len(embeddings)):
        others = [j for j in range(len(embeddings)) if j != i]
        positives = [j for j in others if (i, j) in pairs or (j, i) in pairs]
        among = sum(weight(i, j) for j in others if j in positives or batch.apart[i, j])
        if positives:
            logs = [math.log(weight(i, p) / among) for p in positives]
            costs.append(-sum(logs) / len(logs))
    return sum(costs) / len(costs)


RANDOM = (st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 9))


@pytest.mark.thorough
@given(*RANDOM, st.floats(0.05, 2))
def test_equals_the_loop(seed: int, size: int, pairs: int, tau: float) -> None:
    embeddings, batch = random_batch(seed, size, pairs)
    loss = supervised_contrastive(embeddings, batch, SupervisedContrastiveSettings(tau))
    assert loss.total.item() == pytest.approx(by_loop(embeddings, batch, tau), abs=1e-9)
    assert (loss.similar + loss.dissimilar).item() == pytest.approx(loss.total.item(), abs=1e-9)
    assert loss.total.item() >= -1e-12


@pytest.mark.thorough
@given(*RANDOM)
def test_equals_pytorch_metric_learning(seed: int, size: int, pairs: int) -> None:
    """Scale, as it divides by all strings, not those with a positive; no negative gives 0."""
    embeddings, batch = random_batch(seed, size, pairs)
    positives, negatives = positives_and_negatives(batch)
    assume(negatives.any().item())
    tuples = (*positives.nonzero(as_tuple=True), *negatives.nonzero(as_tuple=True))
    oracle = SupConLoss(temperature=0.1, reducer=MeanReducer())
    expected = oracle(embeddings, indices_tuple=tuples) * size / positives.any(1).sum()
    loss = supervised_contrastive(embeddings, batch, SupervisedContrastiveSettings(0.1)).total
    torch.testing.assert_close(loss, expected)


def test_equals_pytorch_metric_learning_on_labels() -> None:
    """Label three occupations of 3, 3 and 2 strings, all their pairs, as the paper has them."""
    embeddings, _ = random_batch(7, 8, 1)
    labels = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2])
    same = labels[:, None] == labels
    batch = batch_of([(i, j) for i, j in same.triu(1).nonzero().tolist()], ~same)
    loss = supervised_contrastive(embeddings, batch, SupervisedContrastiveSettings(0.1)).total
    torch.testing.assert_close(loss, SupConLoss(temperature=0.1)(embeddings, labels))


def test_gradient() -> None:
    embeddings, batch = random_batch(3, 7, 6)
    settings = SupervisedContrastiveSettings(0.3)
    assert torch.autograd.gradcheck(
        lambda e: supervised_contrastive(e, batch, settings), embeddings.requires_grad_()
    )


@pytest.mark.parametrize("size", [0, 3])
def test_no_pair_gives_a_zero_with_a_gradient_path(size: int) -> None:
    embeddings = torch.ones(size, 2, requires_grad=True)
    batch = batch_of([], torch.ones(size, size).triu(1).bool())
    loss = supervised_contrastive(embeddings, batch, SupervisedContrastiveSettings(0.1))
    assert [term.item() for term in loss] == [0, 0, 0]
    loss.total.backward()
    torch.testing.assert_close(embeddings.grad, torch.zeros(size, 2))


def test_without_a_negative() -> None:
    """Pay -log 1 = 0 for one positive alone, moving nothing; unrelated strings stay out."""
    embeddings = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    embeddings.requires_grad_()
    batch = batch_of([(0, 1)], torch.zeros(4, 4, dtype=torch.bool))
    total = supervised_contrastive(embeddings, batch, SupervisedContrastiveSettings(0.01)).total
    assert total.item() == 0
    total.backward()
    assert embeddings.grad is not None
    assert embeddings.grad.isfinite().all()
    assert embeddings.grad.abs().max() < 1e-4


def test_small_temperatures_stay_finite() -> None:
    """Take τ = 0.001, where exp(s/τ) overflows; a pair at 0° and 90°, a negative at 10°.

    From 0° it costs (cos 10° - cos 90°) / τ = 984.8, from 90° (cos 80° - cos 90°) / τ = 173.6.
    """
    embeddings = circle(0, 90, 10).float().requires_grad_()
    settings = SupervisedContrastiveSettings(0.001)
    total = supervised_contrastive(embeddings, batch_of([(0, 1)], one_apart(3)), settings).total
    assert total.item() == pytest.approx((984.8 + 173.6) / 2, abs=0.1)
    total.backward()
    assert embeddings.grad is not None
    assert embeddings.grad.isfinite().all()


def test_collapse() -> None:
    """Make all embeddings equal: mean of log(2 + 1), log(1 + 1), log(1 + 1), and no gradient.

    A negative that lies 0.01 beside the others is pushed on, in the direction in which it lies.
    """
    raw = torch.tensor([3.0, 4.0], dtype=torch.float64).repeat(4, 1).requires_grad_()
    batch = batch_of([(0, 1), (0, 2)], one_apart(4))
    settings = SupervisedContrastiveSettings(0.1)
    total = supervised_contrastive(raw, batch, settings).total
    assert total.item() == pytest.approx(math.log(3 * 2 * 2) / 3)
    total.backward()
    assert raw.grad is not None
    assert raw.grad.abs().max() < 1e-12
    beside = raw.detach().clone()
    beside[3, 0] += 0.01
    beside.requires_grad_()
    supervised_contrastive(beside, batch, settings).total.backward()
    assert beside.grad is not None
    assert beside.grad[3, 0] < -1e-4


def test_only_directions_and_distinct_pairs_count() -> None:
    embeddings, batch = random_batch(5, 6, 4)
    settings = SupervisedContrastiveSettings(0.1)
    once = supervised_contrastive(embeddings, batch, settings)
    lengths = torch.tensor([[0.1], [1], [7], [30], [2], [0.5]], dtype=torch.float64)
    left, right = torch.cat([batch.left, batch.right]), torch.cat([batch.right, batch.left])
    twice = PairBatch(left, right, batch.apart, NONE)
    torch.testing.assert_close(once, supervised_contrastive(embeddings * lengths, twice, settings))


def test_scored_pairs_are_refused() -> None:
    batch = PairBatch(
        torch.tensor([0]), torch.tensor([1]), one_apart(3), NONE, scores=torch.tensor([0.1])
    )
    with pytest.raises(ValueError, match=r"scored pairs may not be similar; choose a loss"):
        supervised_contrastive(torch.ones(3, 2), batch, SupervisedContrastiveSettings(0.1))


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_temperature_has_to_be_above_0(temperature: float) -> None:
    with pytest.raises(ValueError, match=f"temperature is {temperature}; it has to be above 0"):
        SupervisedContrastiveSettings(temperature)


def test_found_by_its_kind() -> None:
    assert loss_parts("supervised_contrastive") == (
        SupervisedContrastiveSettings,
        supervised_contrastive,
    )
    assert not SupervisedContrastiveSettings(0.1).reads_dissimilar
