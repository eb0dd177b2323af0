"""InfoNCE: by hand, and against pytorch-metric-learning."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import NONE, circle, pair_batch
from pytorch_metric_learning.losses import NTXentLoss
from shapes import checked

from models.losses.info_nce import InfoNceSettings, info_nce
from models.network.loss import PairBatch


def random_batch(seed: int, size: int, pairs: int) -> tuple[torch.Tensor, PairBatch]:
    """Any pairs, repeated, both ways round, also among the strings that are apart."""
    draw = torch.Generator().manual_seed(seed)
    negative_mask = torch.rand(size, size, generator=draw).triu(1) > 0.6
    left = torch.randint(size, (pairs,), generator=draw)
    right = (left + torch.randint(1, size, (pairs,), generator=draw)) % size
    embeddings = torch.randn(size, 3, generator=draw, dtype=torch.float64)
    return embeddings, PairBatch(left, right, negative_mask | negative_mask.T, NONE)


def negatives_of(pairs: int, others: int) -> torch.Tensor:
    """Make `negative_mask` of pairs, then others: only strings of pairs and others are apart."""
    paired = torch.arange(2 * pairs + others) < 2 * pairs
    return paired[:, None] != paired


def test_by_hand() -> None:
    """Pair 0° and 60°, strings apart from both at 90° and 180°, one unknown at 0°; τ = 0.5.

    From the left s/τ is 1 to the right, 0 and -2 to the two: log(1 + e⁻¹ + e⁻³) = 0.349012. From
    the right it is 1, 2·cos 30° = 1.732051 and -1: log(1 + e^0.732051 + e⁻²) = 1.167726. Their
    mean is 0.758369. Each direction pulls with -1, and pushes with the rest.
    """
    embeddings = circle(0, 60, 90, 180, 0)
    negative_mask = negatives_of(1, 3)
    negative_mask[4], negative_mask[:, 4] = False, False
    batch = pair_batch([(0, 1)], negative_mask)
    for symmetric, expected in ((False, 0.349012), (True, 0.758369)):
        loss = checked(info_nce)(embeddings, batch, InfoNceSettings(0.5, symmetric))
        terms = [term.item() for term in loss]
        assert terms == pytest.approx([expected, -1, expected + 1], abs=1e-6)


@pytest.mark.thorough
@given(
    st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 6), st.booleans(), st.floats(0.05, 2)
)
def test_equals_pytorch_metric_learning(seed, size, pairs, symmetric, tau) -> None:
    """Give NT-Xent anchors, positives, anchors, negatives; without negatives it gives 0."""
    embeddings, batch = random_batch(seed, size, pairs)
    anchor, positive = batch.left, batch.right
    if symmetric:
        anchor, positive = torch.cat([anchor, positive]), torch.cat([positive, anchor])
    negative_mask = batch.negative_mask.clone()
    negative_mask[batch.left, batch.right] = negative_mask[batch.right, batch.left] = False
    tuples = (anchor, positive, *negative_mask.nonzero(as_tuple=True))
    expected = NTXentLoss(temperature=tau)(embeddings, indices_tuple=tuples)
    loss = info_nce(embeddings, batch, InfoNceSettings(tau, symmetric))
    torch.testing.assert_close(loss.similar + loss.dissimilar, loss.total)
    torch.testing.assert_close(loss.total, torch.as_tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("symmetric", [False, True])
def test_gradient(symmetric: bool) -> None:
    embeddings, batch = random_batch(3, 7, 4)
    settings = InfoNceSettings(0.3, symmetric)
    assert torch.autograd.gradcheck(
        lambda e: info_nce(e, batch, settings), embeddings.requires_grad_()
    )


def test_a_pair_without_a_negative_costs_nothing_and_counts() -> None:
    """Give a negative to the first of two pairs only: half of its cost, no gradient for 2, 3."""
    embeddings = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    embeddings.requires_grad_()
    negative_mask = torch.zeros(5, 5, dtype=torch.bool)
    negative_mask[0, 4] = negative_mask[4, 0] = True
    settings = InfoNceSettings(0.05, symmetric=False)
    both = info_nce(embeddings, pair_batch([(0, 1), (2, 3)], negative_mask), settings).total
    first = info_nce(embeddings, pair_batch([(0, 1)], negative_mask), settings).total
    torch.testing.assert_close(both, first / 2)
    both.backward()
    assert embeddings.grad.isfinite().all()
    assert embeddings.grad[:2].abs().min() > 0
    assert embeddings.grad[2:4].abs().max() == 0


def test_small_temperatures_stay_finite() -> None:
    """Take τ = 0.001, where exp(s/τ) overflows: 0° against 10° and 90°, in either role.

    With the pair at 10° the cost is log(1 + e^-984.8) = 0; the other way round 0.9848 / τ = 984.8.
    """
    for degrees, cost in (((0, 10, 90), 0.0), ((0, 90, 10), 984.8)):
        embeddings = circle(*degrees).float().requires_grad_()
        settings = InfoNceSettings(0.001, symmetric=False)
        loss = info_nce(embeddings, pair_batch([(0, 1)], negatives_of(1, 1)), settings)
        assert loss.total.item() == pytest.approx(cost, abs=0.1)
        loss.total.backward()
        assert embeddings.grad.isfinite().all()
