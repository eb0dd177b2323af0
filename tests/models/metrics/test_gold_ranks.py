"""Metrics against the mean over every order of the tied occupations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.metrics.gold_ranks import GoldRank, pad_gold, rank_gold, reciprocal_rank, success_at_k


def all_orders(scores: list[int], gold: set[int]) -> list[int]:
    """Rank the first gold occupation in every order that agrees with the scores."""
    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return [min(order.index(occupation) for occupation in gold) + 1 for order in orders]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw up to 6 scores with many ties, and gold with repeats."""
    scores = draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    gold = draw(st.lists(st.integers(0, len(scores) - 1), min_size=1, max_size=4))
    return scores, gold


@pytest.mark.thorough
@given(cases())
@settings(deadline=None)
def test_equal_the_mean_over_all_orders(case: tuple[list[int], list[int]]) -> None:
    scores, gold = case
    ranks = all_orders(scores, set(gold))
    rank = rank_gold(np.array([scores], dtype=np.float32), pad_gold([gold]))
    for k in (1, 2, 5, 10):
        expected = Fraction(sum(place <= k for place in ranks), len(ranks))
        assert success_at_k(rank, k)[0] == pytest.approx(float(expected), abs=1e-12)
    expected = sum(Fraction(1, place) for place in ranks) / len(ranks)
    assert reciprocal_rank(rank)[0] == pytest.approx(float(expected), abs=1e-12)


def rank_of(better: int, tied: int, gold_tied: int) -> GoldRank:
    return GoldRank(np.array([better]), np.array([tied]), np.array([gold_tied]))


@pytest.mark.parametrize(
    ("rank", "k", "success"),
    [
        (rank_of(0, 1, 1), 1, 1.0),
        (rank_of(1, 1, 1), 1, 0.0),
        (rank_of(0, 4, 1), 1, 0.25),  # one of four orders
        (rank_of(3, 4, 1), 5, 0.5),  # places 4 and 5 are open to four tied
        (rank_of(0, 4, 2), 2, 5 / 6),  # 1 - C(2,2)/C(4,2) = 1 - 1/6
        (rank_of(0, 3, 3), 1, 1.0),
        (rank_of(0, 4, 2), 3, 1.0),  # only two are not gold
    ],
)
def test_golden_success(rank: GoldRank, k: int, success: float) -> None:
    assert success_at_k(rank, k)[0] == pytest.approx(success, abs=1e-15)


@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (rank_of(2, 1, 1), 1 / 3),
        (rank_of(0, 2, 1), 3 / 4),  # (1 + 1/2) / 2
        (rank_of(1, 3, 1), 13 / 36),  # (1/2 + 1/3 + 1/4) / 3
        (rank_of(0, 3, 2), 5 / 6),  # first gold at 1 with 2/3, at 2 with 1/3: 2/3 + 1/6
    ],
)
def test_golden_reciprocal_rank(rank: GoldRank, expected: float) -> None:
    assert reciprocal_rank(rank)[0] == pytest.approx(expected, abs=1e-15)


def test_chance_level_of_a_system_that_knows_nothing() -> None:
    """Tie 2,942 with one gold: success@k = k/2942, reciprocal rank = H(2942)/2942; also g = 3.

    With three gold success@10 is 1 − (2939·…·2930)/(2942·…·2933) by factors over the places.
    """
    rank = rank_gold(np.zeros((2, 2942), dtype=np.float32), pad_gold([[7], [1, 2, 2941]]))
    harmonic = sum(1 / place for place in range(1, 2943))
    missed = np.prod([(2939 - j) / (2942 - j) for j in range(10)])
    np.testing.assert_allclose(success_at_k(rank, 10), [10 / 2942, 1 - missed], rtol=1e-12)
    assert reciprocal_rank(rank)[0] == pytest.approx(harmonic / 2942, rel=1e-12)
    assert reciprocal_rank(rank)[1] > reciprocal_rank(rank)[0]


def test_the_best_gold_counts_and_padding_does_not() -> None:
    scores = np.array([[0.9, 0.5, 0.5, 0.1], [-2.0, -1.0, -1.0, -3.0]])
    rank = rank_gold(scores, np.array([[3, 2, 2], [0, -1, -1]]))
    assert rank.better.tolist() == [1, 2]
    assert rank.tied.tolist() == [2, 1]
    assert rank.gold_tied.tolist() == [1, 1]


def test_minus_infinity_is_a_score() -> None:
    rank = rank_gold(np.array([[1.0, -np.inf, -np.inf]]), pad_gold([[2]]))
    assert (rank.better[0], rank.tied[0], rank.gold_tied[0]) == (1, 2, 1)


def test_no_queries() -> None:
    rank = rank_gold(np.zeros((0, 5)), pad_gold([]))
    assert success_at_k(rank, 1).shape == reciprocal_rank(rank).shape == (0,)


@pytest.mark.parametrize(
    ("scores", "gold", "message"),
    [
        ([[0.0, 1.0], [np.nan, 1.0]], [[1], [1]], "query 1 has a score that is NaN"),
        ([[0.0, 1.0], [0.0, 1.0]], [[1], []], "1 queries have no gold, the first is query 1"),
        ([[0.0, 1.0]], [[2]], "gold holds 2"),
        ([[0.0, 1.0]], [[1, -2]], "-2"),
    ],
)
def test_faults_are_named(scores: list[list[float]], gold: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank_gold(np.array(scores), pad_gold(gold))


def test_success_at_no_place_is_an_error() -> None:
    with pytest.raises(ValueError, match="k = 0"):
        success_at_k(rank_of(0, 1, 1), 0)
