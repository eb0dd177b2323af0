"""The multi-similarity loss: by hand, by loop, against pytorch-metric-learning, in the collapse."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from loss_batches import batch_of, circle, random_batch
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import MultiSimilarityMiner
from shapes import checked

from models.losses.multi_similarity import MultiSimilaritySettings, mined, multi_similarity
from models.losses.parts.members import positives_and_negatives
from models.network.kinds import loss_parts
from models.network.loss import PairBatch

ALL = 3.0  # an ε with which mining keeps every pair


def settings_of(**changes: float) -> MultiSimilaritySettings:
    values = {"alpha": 2.0, "beta": 50.0, "base": 0.5, "epsilon": 0.1}
    return MultiSimilaritySettings(**values | changes)


def pair_and_others(others: int) -> PairBatch:
    """Make one pair, strings 0 and 1, and others that are apart from both."""
    paired = torch.arange(2 + others) < 2
    return batch_of([(0, 1)], paired[:, None] != paired)


def test_by_hand() -> None:
    """Pair 0° and 60°, negatives at 90° and 180°; α = 2, β = 4, λ = 0.5, ε = 0.1.

    From 0° the positive has 0.5 and the negatives 0 and -1: 0.5 < 0 + 0.1 fails, so does
    0 > 0.5 - 0.1, nothing is kept. From 60° the positive has 0.5, the negatives 0.866025 and -0.5:
    0.5 < 0.966 keeps the positive, 0.866 > 0.4 the first negative alone. It costs
    ½ log(1 + e⁰) = 0.346574 and ¼ log(1 + e^(4 · 0.366025)) = 0.418040, over two strings.
    """
    settings = settings_of(beta=4)
    loss = checked(multi_similarity)(circle(0, 60, 90, 180), pair_and_others(2), settings)
    assert loss.similar.item() == pytest.approx(0.346574 / 2, abs=1e-6)
    assert loss.dissimilar.item() == pytest.approx(0.418040 / 2, abs=1e-6)
    assert loss.total.item() == pytest.approx(0.764614 / 2, abs=1e-6)


def test_mining_by_hand() -> None:
    """Mine positives 0.9, 0.6, negatives 0.7, 0.55, 0.4, ε = 0.1: kept below 0.8, and above 0.5.

    The second row has no negative, the third no positive: neither keeps anything.
    """
    similarity = torch.tensor([[0.9, 0.6, 0.7, 0.55, 0.4]]).repeat(3, 1)
    positives = torch.tensor([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]).bool()
    negatives = torch.tensor([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0], [0, 0, 1, 1, 1]]).bool()
    kept = checked(mined)(similarity, positives, negatives, 0.1)
    assert kept[0].nonzero().tolist() == [[0, 1]]
    assert kept[1].nonzero().tolist() == [[0, 2], [0, 3]]


def by_loop(embeddings: torch.Tensor, batch: PairBatch, s: MultiSimilaritySettings) -> float:
    size = len(embeddings)
    pairs = set(zip(batch.left.tolist(), batch.right.tolist(), strict=True))
    costs = []
    for i in range(size):
        closeness = [
            torch.cosine_similarity(embeddings[i], embeddings[j], dim=0).item() for j in range(size)
        ]
        positives = {j for j in range(size) if (i, j) in pairs or (j, i) in pairs}
        negatives = {j for j in range(size) if batch.apart[i, j]} - positives
        if not positives:
            continue
        cost = 0.0
        if negatives:
            top = max(closeness[j] for j in negatives)
            low = min(closeness[j] for j in positives)
            pull = [closeness[j] for j in positives if closeness[j] < top + s.epsilon]
            push = [closeness[j] for j in negatives if closeness[j] > low - s.epsilon]
            cost += math.log(1 + sum(math.exp(-s.alpha * (e - s.base)) for e in pull)) / s.alpha
            cost += math.log(1 + sum(math.exp(s.beta * (e - s.base)) for e in push)) / s.beta
        costs.append(cost)
    return sum(costs) / len(costs)


@pytest.mark.thorough
@given(
    st.integers(0, 10**6),
    st.integers(2, 8),
    st.integers(1, 9),
    st.floats(0.1, 60),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.1, 0.5, ALL]),
)
def test_equals_the_loop(
    seed: int, size: int, pairs: int, scale: float, base: float, epsilon: float
) -> None:
    embeddings, batch = random_batch(seed, size, pairs)
    settings = settings_of(alpha=scale / 5, beta=scale, base=base, epsilon=epsilon)
    loss = multi_similarity(embeddings, batch, settings)
    assert loss.total.item() == pytest.approx(by_loop(embeddings, batch, settings), abs=1e-9)
    assert (loss.similar + loss.dissimilar).item() == pytest.approx(loss.total.item())
    assert min(loss).item() >= 0


@pytest.mark.thorough
@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 9))
def test_weighting_equals_pytorch_metric_learning(seed: int, size: int, pairs: int) -> None:
    """Keep all pairs that mining can keep: only strings with a positive and a negative.

    It divides by all strings instead of those with a positive, and of lists of one it gives 0.
    """
    embeddings, batch = random_batch(seed, size, pairs)
    positives, negatives = positives_and_negatives(batch)
    kept = positives & negatives.any(1, keepdim=True), negatives & positives.any(1, keepdim=True)
    tuples = (*kept[0].nonzero(as_tuple=True), *kept[1].nonzero(as_tuple=True))
    assume(any(len(places) > 1 for places in tuples))
    expected = MultiSimilarityLoss(2, 50, 0.5)(embeddings, indices_tuple=tuples)
    loss = multi_similarity(embeddings, batch, settings_of(epsilon=ALL)).total
    torch.testing.assert_close(loss, expected * size / positives.any(1).sum())


@pytest.mark.thorough
@given(st.integers(0, 10**6), st.lists(st.integers(0, 3), min_size=3, max_size=9))
def test_mining_equals_pytorch_metric_learning(seed: int, occupations: list[int]) -> None:
    """Give its miner labels: all pairs of each occupation, everything else apart.

    It divides by all strings instead of those with a positive, and of lists of one it gives 0.
    """
    embeddings, _ = random_batch(seed, len(occupations), 1)
    labels = torch.tensor(occupations)
    same = labels[:, None] == labels
    batch = batch_of([(i, j) for i, j in same.triu(1).nonzero().tolist()], ~same)
    anchors = positives_and_negatives(batch)[0].any(1).sum().clamp(min=1)
    tuples = MultiSimilarityMiner(0.1)(embeddings, labels)
    assume(not any(map(len, tuples)) or any(len(places) > 1 for places in tuples))
    oracle = MultiSimilarityLoss(2, 50, 0.5)(embeddings, labels, tuples)
    expected = oracle * len(labels) / anchors
    loss = multi_similarity(embeddings, batch, settings_of()).total
    torch.testing.assert_close(loss, expected)


@pytest.mark.parametrize("epsilon", [0.1, ALL])
def test_gradient(epsilon: float) -> None:
    """Take finite differences; no similarity of this batch is close to a threshold of mining."""
    embeddings, batch = random_batch(3, 7, 6)
    settings = settings_of(beta=10, epsilon=epsilon)
    assert torch.autograd.gradcheck(
        lambda e: multi_similarity(e, batch, settings), embeddings.requires_grad_()
    )


@pytest.mark.parametrize("size", [0, 3])
def test_no_pair_gives_a_zero_with_a_gradient_path(size: int) -> None:
    embeddings = torch.ones(size, 2, requires_grad=True)
    batch = batch_of([], torch.ones(size, size).triu(1).bool())
    loss = multi_similarity(embeddings, batch, settings_of())
    assert [term.item() for term in loss] == [0, 0, 0]
    loss.total.backward()
    torch.testing.assert_close(embeddings.grad, torch.zeros(size, 2))


def test_nothing_kept_gives_a_zero_and_no_gradient() -> None:
    """Give no negative at all; and a pair at 0° and 1° with a negative at 90°."""
    for degrees, batch in (((0, 60), pair_and_others(0)), ((0, 1, 90), pair_and_others(1))):
        embeddings = circle(*degrees).requires_grad_()
        loss = multi_similarity(embeddings, batch, settings_of())
        assert [term.item() for term in loss] == [0, 0, 0]
        loss.total.backward()
        torch.testing.assert_close(embeddings.grad, torch.zeros_like(embeddings))


def test_high_weights_stay_finite() -> None:
    """Take β = 500, where exp overflows in float32: the push at S = 1 is 1 - 0.5 per string."""
    embeddings = circle(0, 0, 0).float().requires_grad_()
    loss = multi_similarity(embeddings, pair_and_others(1), settings_of(beta=500))
    assert loss.dissimilar.item() == pytest.approx(0.5)
    loss.total.backward()
    assert embeddings.grad is not None
    assert embeddings.grad.isfinite().all()


def test_collapse() -> None:
    """Make all embeddings equal, three negatives, S = 1: all is kept, no gradient is left.

    Pull ½ log(1 + e^(-2 · ½)), push 1/50 · log(1 + 3 · e^(50 · ½)) = ½ + log(3) / 50.
    A negative that lies 0.01 beside the others is pushed on, in the direction in which it lies.
    """
    raw = torch.tensor([3.0, 4.0], dtype=torch.float64).repeat(5, 1).requires_grad_()
    loss = multi_similarity(raw, pair_and_others(3), settings_of())
    assert loss.similar.item() == pytest.approx(math.log(1 + math.exp(-1)) / 2)
    assert loss.dissimilar.item() == pytest.approx(0.5 + math.log(3) / 50)
    loss.total.backward()
    assert raw.grad is not None
    assert raw.grad.abs().max() < 1e-12
    beside = raw.detach().clone()
    beside[4, 0] += 0.01
    beside.requires_grad_()
    multi_similarity(beside, pair_and_others(3), settings_of()).total.backward()
    assert beside.grad is not None
    assert beside.grad[4, 0] < -1e-5


def test_only_directions_count() -> None:
    embeddings, batch = random_batch(5, 6, 4)
    lengths = torch.tensor([[0.1], [1], [7], [30], [2], [0.5]], dtype=torch.float64)
    torch.testing.assert_close(
        multi_similarity(embeddings, batch, settings_of()),
        multi_similarity(embeddings * lengths, batch, settings_of()),
    )


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_weights_have_to_be_above_0(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} is 0\.0; it has to be above 0"):
        settings_of(**{name: 0.0})


def test_found_by_its_kind() -> None:
    assert loss_parts("multi_similarity") == (MultiSimilaritySettings, multi_similarity)
    assert not settings_of().reads_dissimilar
