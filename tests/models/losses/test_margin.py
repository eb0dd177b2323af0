"""The margin loss: by hand, by loop, by differences, and its negatives."""

import math
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import check_zero, circle, pair_batch
from shapes import checked

from models.losses.margin import MarginSettings, Negatives, margin
from models.network.loss import PairBatch

KINDS = get_args(Negatives)
CERTAIN = ("max", "semihard", "most_informative")  # without a draw
loss_of = checked(margin)


def random_case(seed: int, size: int = 8, pairs: int = 3) -> tuple[torch.Tensor, PairBatch]:
    """Draw embeddings of any norm; pairs of two different strings, some rejected by people."""
    draw = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(size, 3, generator=draw, dtype=torch.float64) * 3
    chosen = [torch.randperm(size, generator=draw)[:2].tolist() for _ in range(pairs)]
    negative_mask = (torch.rand(size, size, generator=draw) < 0.3).fill_diagonal_(False)
    return embeddings, pair_batch([(a, b) for a, b in chosen], negative_mask)


# the pair is at 0° and 60°, and both are apart from the strings at 30°, 100°, 135° and -40°
POINTS = circle(0, 60, 30, 100, 135, -40)
APART = torch.zeros(6, 6, dtype=torch.bool)
APART[:2, 2:] = True


@pytest.mark.parametrize(
    ("negatives", "similar", "dissimilar"),
    [("max", -0.1, 0.866025), ("semihard", -0.05, 0.129410), ("most_informative", -0.1, 0.512432)],
)
def test_by_hand(negatives: Negatives, similar: float, dissimilar: float) -> None:
    """Take cos(x1, x2) = 0.5, so that a term is max(0, 0.4 - 0.5 + cos(x, t)).

    Cosines to 30°, 100°, 135°, -40° are 0.866025, -0.173648, -0.707107, 0.766044 of x1 = 0°, and
    0.866025, 0.766044, 0.258819, -0.173648 of x2 = 60°.
    max: 30° twice, 0.766025 twice; similar -0.1, dissimilar 0.866025.
    semihard, below 0.5: 100° for x1, a term of 0; 135° for x2, 0.158819. Halved: -0.05 + 0.129410.
    most_informative: x1 - x2 points to -60°, closest to -40°: 0.666044. x2 - x1 points to 120°,
    closest to 135°: 0.158819. Similar -0.1, dissimilar (0.766044 + 0.258819) / 2 = 0.512432.
    """
    loss = loss_of(POINTS, pair_batch([(0, 1)], APART), MarginSettings(0.4, negatives))
    assert [term.item() for term in loss] == pytest.approx(
        [similar + dissimilar, similar, dissimilar], abs=1e-6
    )


@pytest.mark.parametrize(("negatives", "expected"), [("random", 0.377870), ("mix", 0.571947)])
def test_random_and_mix_by_hand(negatives: Negatives, expected: float) -> None:
    """Repeat the pair of `test_by_hand` 4,000 times: the draws' mean is their expectation.

    Terms of x1: 0.766025, 0, 0, 0.666044, on average 0.358017; of x2: 0.766025, 0.666044, 0.158819,
    0, on average 0.397722. Uniformly that is 0.377870, and mixed with the 0.766025 of max, one half
    each, 0.571947. A term deviates by 0.4 at most, so 0.02 is 4.5 standard deviations.
    """
    torch.manual_seed(0)
    loss = margin(POINTS, pair_batch([(0, 1)] * 4000, APART), MarginSettings(0.4, negatives))
    assert loss.total.item() == pytest.approx(expected, abs=0.02)


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b) or 1)


def by_loop(embeddings: torch.Tensor, batch: PairBatch, how: str, delta: float) -> list[float]:
    """Return the loss and its two terms, the mean over sides of a pair that have a negative."""
    points = [[x / math.hypot(*row) for x in row] for row in embeddings.tolist()]
    terms = []
    for pair in zip(batch.left.tolist(), batch.right.tolist(), strict=True):
        for x, y in (pair, pair[::-1]):
            near = cosine(points[x], points[y])
            others = [t for t in range(len(points)) if batch.negative_mask[x, t] and t not in pair]
            if not others:
                continue
            far = {t: cosine(points[x], points[t]) for t in others}
            difference = [a - b for a, b in zip(points[x], points[y], strict=True)]
            informative = max(others, key=lambda t: cosine(points[t], difference))
            below = [e for e in far.values() if e < near]
            chosen = {
                "max": max(far.values()),
                "semihard": max(below) if below else min(far.values()),
                "most_informative": far[informative],
            }[how]
            terms.append((delta - near, chosen) if delta - near + chosen > 0 else (0.0, 0.0))
    similar, dissimilar = (sum(term[i] for term in terms) / max(1, len(terms)) for i in (0, 1))
    return [similar + dissimilar, similar, dissimilar]


@pytest.mark.thorough
@given(st.integers(0, 10**6), st.floats(0.05, 1.5), st.sampled_from(CERTAIN))
def test_equals_the_loop(seed: int, delta: float, negatives: Negatives) -> None:
    embeddings, batch = random_case(seed)
    loss = margin(embeddings, batch, MarginSettings(delta, negatives))
    expected = by_loop(embeddings, batch, negatives, delta)
    assert [term.item() for term in loss] == pytest.approx(expected, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", KINDS)
def test_gradient(negatives: Negatives) -> None:
    """The choice of negatives has none."""
    embeddings, batch = random_case(4)

    def total(rows: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(2)
        return margin(rows, batch, MarginSettings(0.4, negatives)).total

    assert torch.autograd.gradcheck(total, embeddings.requires_grad_())
    total(embeddings).backward()
    assert embeddings.grad.abs().max() > 0.01


@pytest.mark.parametrize("negatives", KINDS)
def test_pairs_without_a_negative_cost_nothing(negatives: Negatives) -> None:
    """No string is apart from one of a pair but its own, which a person rejected."""
    embeddings = torch.randn(4, 3, requires_grad=True)
    mask = torch.zeros(4, 4, dtype=torch.bool)
    mask[0, 1] = True
    batch = pair_batch([(0, 1), (2, 3)], mask)
    check_zero(loss_of(embeddings, batch, MarginSettings(0.4, negatives)), embeddings)


def test_a_side_without_a_negative_is_left_out_of_the_mean() -> None:
    """Give one to x1 = 0° only, at 30°: 0.4 - cos 60° + cos 30° = 0.766025, not half of it."""
    negative_mask = torch.zeros(6, 6, dtype=torch.bool)
    negative_mask[0, 2] = True
    loss = margin(POINTS, pair_batch([(0, 1)], negative_mask), MarginSettings(0.4, "max"))
    assert loss.total.item() == pytest.approx(0.766025, abs=1e-6)
