"""Similarities of two embeddings: by hand, at their ends, and there and back between ranges."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.network.similarity import cosine, cosine_matrix, exp_manhattan, rescaled, unscaled


def test_cosine_by_hand() -> None:
    """Expect (3, 4)·(4, 3) = 24 over 5 · 5: 0.96; (3, 4)·(-6, -8) = -50 over 5 · 10: -1."""
    left = torch.tensor([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    right = torch.tensor([[4.0, 3.0], [-6.0, -8.0], [0.0, 0.0]])
    torch.testing.assert_close(checked(cosine)(left, right), torch.tensor([0.96, -1.0, 0.0]))


@given(st.integers(0, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_matrix_is_every_pair(size: int, dim: int, seed: int) -> None:
    embeddings = torch.randn(size, dim, generator=torch.Generator().manual_seed(seed))
    cosines = checked(cosine_matrix)(embeddings)
    torch.testing.assert_close(cosines, cosine(embeddings[:, None], embeddings[None]))
    assert (cosines.abs() <= 1 + 1e-6).all()


def test_exp_manhattan_by_hand() -> None:
    """Take differences (0, 0), (ln 2, 0), (ln 2, -ln 2): exp(-0) = 1, exp(-ln 2) = ½, ½ · ½ = ¼."""
    log2 = math.log(2)
    left = torch.tensor([[1.0, 2.0], [log2, 0.0], [log2, 0.0]])
    right = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, log2]])
    torch.testing.assert_close(checked(exp_manhattan)(left, right), torch.tensor([1.0, 0.5, 0.25]))


def test_gradient_of_exp_manhattan_beside_and_at_equality() -> None:
    """Expect -g·sign(a - b): about ∓1 where a is just beside b, and 0 where a = b."""
    right = torch.zeros(2)
    for left, expected in (([1e-6, -1e-6], [-1.0, 1.0]), ([0.0, 0.0], [0.0, 0.0])):
        point = torch.tensor(left, requires_grad=True)
        exp_manhattan(point, right).backward()
        torch.testing.assert_close(point.grad, torch.tensor(expected), rtol=1e-5, atol=0)


def test_samples_of_the_paper() -> None:
    """Take two pairs of Bao et al. 2018, figure 2: (1.7 - 1) / 4 = 0.175, (4.5 - 1) / 4 = 0.875."""
    scores = torch.tensor([1.7, 4.5, 1.0, 5.0])
    similarity = torch.tensor([0.175, 0.875, 0.0, 1.0])
    torch.testing.assert_close(checked(unscaled)(scores, 1.0, 5.0), similarity)
    torch.testing.assert_close(checked(rescaled)(similarity, 1.0, 5.0), scores)


@given(st.lists(st.floats(0, 1), max_size=5), st.floats(-9, 9), st.floats(0.1, 9))
def test_there_and_back(similarity: list[float], low: float, width: float) -> None:
    before = torch.tensor(similarity, dtype=torch.float64)
    scores = rescaled(before, low, low + width)
    inside = scores.clamp(low, low + width)  # the last digit of low + width·1 may fall outside
    torch.testing.assert_close(unscaled(inside, low, low + width), before, rtol=0, atol=1e-12)


@pytest.mark.parametrize("score", [0.5, 5.5, math.nan])
def test_scores_outside_of_their_range(score: float) -> None:
    with pytest.raises(ValueError, match=rf"score {score} is outside of \[1, 5\]"):
        unscaled(torch.tensor([3.0, score]), 1, 5)


def test_an_empty_range() -> None:
    for convert in (rescaled, unscaled):
        with pytest.raises(ValueError, match="from 5 to 5"):
            convert(torch.tensor([5.0]), 5, 5)
