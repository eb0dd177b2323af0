"""The margin losses into a frozen space: by hand, by loop and by differences."""

import math
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import check_zero, circle, target_batch
from shapes import checked
from torch.nn import functional

from models.losses.frozen_margin import (
    FrozenMarginSettings,
    Negatives,
    frozen_margin,
    negative_vectors,
)
from models.network.loss import PairBatch

KINDS = get_args(Negatives)
SYNTHETIC = ("projection", "difference")
loss_of = checked(frozen_margin)


def settings_of(negatives: Negatives, margin: float = 0.5, draws: int = 5) -> FrozenMarginSettings:
    return FrozenMarginSettings(margin, negatives, draws)


def random_case(seed: int, share: float = 0.4) -> tuple[torch.Tensor, PairBatch]:
    """Draw pairs: some have no target, some no negative; or the target itself is named apart."""
    draw = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(6, 3, generator=draw, dtype=torch.float64) * 3
    table = functional.normalize(torch.randn(5, 3, generator=draw, dtype=torch.float64))
    left = torch.randint(6, (4,), generator=draw).tolist()
    rows = torch.randint(-1, 5, (4,), generator=draw).tolist()
    return embeddings, target_batch(left, table, rows, torch.rand(4, 5, generator=draw) < share)


# û at 60°; of the frozen embeddings at 0°, 90°, 180° and 300° the first is its target u
POINTS, TABLE = circle(60), circle(0, 90, 180, 300)
BATCH = target_batch([0], TABLE, [0], torch.tensor([[False, True, True, True]]))


@pytest.mark.parametrize(
    ("negatives", "dissimilar"),
    [("projection", 0.866025), ("difference", 0.5), ("most_informative", 0.866025)],
)
def test_by_hand(negatives: Negatives, dissimilar: float) -> None:
    """Take uᵀû = cos 60° = 0.5 and λ = 0.5, so that `similar` is 0 and the loss is u'ᵀû.

    projection: û - 0.5u = (0, 0.866), of unit length (0, 1): cos 30° = 0.866025.
    difference: û - u = (-0.5, 0.866) is at 120°: cos 60° = 0.5.
    most_informative: closest to 120° is 90°, cos 30° = 0.866025.
    """
    loss = loss_of(POINTS, BATCH, settings_of(negatives))
    assert [term.item() for term in loss] == pytest.approx([dissimilar, 0, dissimilar], abs=1e-6)


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def scaled(a: list[float]) -> list[float]:
    return [x / math.hypot(*a) for x in a]


def by_loop(embeddings: torch.Tensor, batch: PairBatch, how: str, margin: float) -> float:
    table, terms = batch.targets.table.tolist(), []
    for left, row, negative_mask in zip(
        batch.left.tolist(), batch.targets.rows.tolist(), batch.targets.negative_mask(), strict=True
    ):
        if row < 0:
            continue
        predicted, target = scaled(embeddings[left].tolist()), table[row]
        near = dot(predicted, target)
        difference = [a - b for a, b in zip(predicted, target, strict=True)]
        others = [v for j, v in enumerate(table) if negative_mask[j] and j != row]
        if how == "projection":
            negatives = [scaled([a - near * b for a, b in zip(predicted, target, strict=True)])]
        elif how == "difference":
            negatives = [scaled(difference)]
        elif how == "most_informative":
            negatives = sorted(others, key=lambda v: dot(v, difference))[-1:]
        else:  # of "least" and "most" a random draw is between
            order = sorted(others, key=lambda v: dot(v, predicted))
            negatives = order[:1] if how == "least" else order[-1:]
        terms += [max(0.0, margin + dot(v, predicted) - near) for v in negatives]
    return sum(terms) / max(1, len(terms))


@pytest.mark.thorough
@given(st.integers(0, 10**6), st.floats(0.05, 1.5), st.sampled_from(KINDS))
def test_equals_the_loop(seed: int, margin: float, negatives: Negatives) -> None:
    embeddings, batch = random_case(seed)
    torch.manual_seed(seed)
    loss = frozen_margin(embeddings, batch, settings_of(negatives, margin))
    total = loss.total.item()
    assert (loss.similar + loss.dissimilar).item() == pytest.approx(total, abs=1e-12)
    if negatives == "random":
        assert by_loop(embeddings, batch, "least", margin) - 1e-12 <= total
        assert total <= by_loop(embeddings, batch, "most", margin) + 1e-12
    else:
        expected = by_loop(embeddings, batch, negatives, margin)
        assert total == pytest.approx(expected, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", KINDS)
def test_negatives_are_constants(negatives: Negatives) -> None:
    """Expect the gradient of the hinge with fixed vectors u', which is checked itself."""
    embeddings, batch = random_case(5, share=1)
    kept = batch.targets.rows >= 0
    left, rows = batch.left[kept], batch.targets.rows[kept]
    allowed = torch.ones(len(rows), 5, dtype=torch.bool).scatter(1, rows[:, None], False)
    table = batch.targets.table
    torch.manual_seed(2)
    predicted = functional.normalize(embeddings[left])
    allowed = None if negatives in SYNTHETIC else allowed
    settings = settings_of(negatives)
    constants = checked(negative_vectors)(predicted, table[rows], table, allowed, settings)

    def hinge(e: torch.Tensor) -> torch.Tensor:
        near = functional.cosine_similarity(e[left], table[rows])[:, None]
        far = functional.cosine_similarity(e[left][:, None], constants, dim=2)
        return (0.5 + far - near).relu().mean()

    embeddings.requires_grad_()
    assert torch.autograd.gradcheck(hinge, embeddings)
    (expected,) = torch.autograd.grad(hinge(embeddings), embeddings)
    torch.manual_seed(2)
    loss = frozen_margin(embeddings, batch, settings_of(negatives))
    (gradient,) = torch.autograd.grad(loss.total, embeddings)
    assert expected.abs().max() > 0.01
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("negatives", SYNTHETIC)
@pytest.mark.parametrize(("margin", "expected"), [(0.5, 0.0), (1.5, 0.5)])
def test_at_the_target_the_synthetic_negative_is_zero(negatives, margin, expected) -> None:
    """Take û = u: max(0, λ + 0 - 1), and no gradient, as uᵀû is at its maximum.

    In float32 and 300 dimensions too, where û - (ûᵀu)u is a little noise instead of 0.
    """
    torch.manual_seed(0)
    raw = torch.randn(50, 300) * 7
    table, rows = functional.normalize(raw), list(range(50))
    batch = target_batch(rows, table, rows, torch.zeros(50, 50).bool())
    embeddings = (raw * 0.3).requires_grad_()
    loss = frozen_margin(embeddings, batch, settings_of(negatives, margin))
    assert loss.total.item() == pytest.approx(expected, abs=1e-3)
    loss.total.backward()
    assert embeddings.grad.abs().max() < 1e-4


@pytest.mark.parametrize("negatives", KINDS)
@pytest.mark.parametrize("rows", [[-1, -1], [0, 1]])
def test_nothing_valid_costs_nothing(negatives: Negatives, rows: list[int]) -> None:
    """Give no pair with a target; or none with a negative but its own target.

    In the last case a synthetic negative needs none, and only those of the table are left out.
    """
    embeddings = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], requires_grad=True)
    batch = target_batch([0, 1], torch.eye(2), rows, torch.eye(2).bool())
    loss = loss_of(embeddings, batch, settings_of(negatives))
    if rows == [0, 1] and negatives in SYNTHETIC:
        assert loss.total.item() > 0
    else:
        check_zero(loss, embeddings)
