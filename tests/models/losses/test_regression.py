"""The regression loss: by loop, and in the collapse."""

import math
from typing import Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import pair_batch
from shapes import checked

from models.losses.regression import RegressionSettings, regression
from models.network.loss import PairBatch

Similarity = Literal["exp_manhattan", "cosine"]
BOTH: tuple[Similarity, ...] = ("exp_manhattan", "cosine")


def batch_of(
    pairs: list[tuple[int, int]],
    dissimilar: list[tuple[int, int]],
    size: int,
    scores: list[float] | None = None,
) -> PairBatch:
    return pair_batch(pairs, torch.zeros(size, size, dtype=torch.bool), dissimilar, scores)


def by_loop(embeddings: torch.Tensor, batch: PairBatch, similarity: str) -> list[float]:
    def predicted(i: int, j: int) -> float:
        a, b = embeddings[i].tolist(), embeddings[j].tolist()
        if similarity == "cosine":
            dot = sum(x * y for x, y in zip(a, b, strict=True))
            return (1 + dot / math.hypot(*a) / math.hypot(*b)) / 2
        return math.exp(-sum(abs(x - y) for x, y in zip(a, b, strict=True)))

    pairs = list(zip(batch.left.tolist(), batch.right.tolist(), strict=True))
    scores = [1.0] * len(pairs) if batch.scores is None else batch.scores.tolist()
    alike = [(predicted(i, j) - s) ** 2 for (i, j), s in zip(pairs, scores, strict=True)]
    negative_mask = [predicted(i, j) ** 2 for i, j in batch.dissimilar.tolist()]
    count = len(alike) + len(negative_mask)
    return [sum(alike + negative_mask) / count, sum(alike) / count, sum(negative_mask) / count]


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6)


@pytest.mark.thorough
@given(PAIRS, PAIRS, st.booleans(), st.sampled_from(BOTH), st.integers(0, 10**6))
def test_equals_the_loop(pairs, dissimilar, scored, similarity, seed) -> None:
    draw = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(6, 3, generator=draw, dtype=torch.float64)
    scores = torch.rand(len(pairs), generator=draw).tolist() if scored else None
    batch = batch_of(pairs, dissimilar, 6, scores)
    loss = checked(regression)(embeddings, batch, RegressionSettings(similarity))
    expected = by_loop(embeddings, batch, similarity) if pairs or dissimilar else [0, 0, 0]
    assert [term.item() for term in loss] == pytest.approx(expected, abs=1e-9)
    assert 0 <= loss.total.item() <= 1


@pytest.mark.parametrize("similarity", BOTH)
def test_collapse(similarity: Similarity) -> None:
    """Make all embeddings equal: predictions 1, the dissimilar pair costs 1 of 2, no gradient."""
    raw = torch.tensor([3.0, 4.0], dtype=torch.float64).repeat(3, 1).requires_grad_()
    total = regression(raw, batch_of([(0, 1)], [(0, 2)], 3), RegressionSettings(similarity)).total
    assert total.item() == pytest.approx(0.5)
    total.backward()
    assert raw.grad.abs().max() < 1e-12


def test_unknown_similarity() -> None:
    with pytest.raises(ValueError, match=r"'dot'; choose exp_manhattan, cosine"):
        RegressionSettings("dot")  # type: ignore[arg-type]
