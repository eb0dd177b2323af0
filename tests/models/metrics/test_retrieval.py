"""Ties against the mean over all orders; ranked lists against ir-measures, which asks trec_eval."""

from fractions import Fraction
from itertools import pairwise, permutations

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, Measure, Qrel, ScoredDoc, Success

from models.metrics.retrieval import (
    GoldRank,
    RelevantPositions,
    pad_gold,
    rank_gold,
    ranked,
    reciprocal_rank,
    success_at_k,
)

MEASURES: list[Measure] = [AP, RR, *(Success @ k for k in (1, 3, 10))]


def all_orders(scores: list[int], gold: set[int]) -> list[int]:
    """Rank the first gold occupation in every order that agrees with the scores."""
    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return [min(order.index(occupation) for occupation in gold) + 1 for order in orders]


@st.composite
def tied_cases(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Draw up to 6 scores with many ties, and gold with repeats."""
    scores = draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    gold = draw(st.lists(st.integers(0, len(scores) - 1), min_size=1, max_size=4))
    return scores, gold


@pytest.mark.thorough
@given(tied_cases())
def test_equal_the_mean_over_all_orders(case: tuple[list[int], list[int]]) -> None:
    scores, gold = case
    ranks = all_orders(scores, set(gold))
    rank = rank_gold(np.array([scores], dtype=np.float32), pad_gold([gold]))
    for k in (1, 2, 5, 10):
        expected = Fraction(sum(position <= k for position in ranks), len(ranks))
        assert success_at_k(rank, k)[0] == pytest.approx(float(expected), abs=1e-12)
    expected = sum(Fraction(1, position) for position in ranks) / len(ranks)
    assert reciprocal_rank(rank)[0] == pytest.approx(float(expected), abs=1e-12)


def rank_of(better: int, tied: int, gold_tied: int) -> GoldRank:
    return GoldRank(np.array([better]), np.array([tied]), np.array([gold_tied]))


def test_the_best_gold_counts_and_padding_does_not() -> None:
    """Minus infinity is a score; no queries have no values."""
    scores = np.array([[0.9, 0.5, 0.5, 0.1], [-2, -1, -1, -3], [1, -np.inf, -np.inf, -np.inf]])
    rank = rank_gold(scores, np.array([[3, 2, 2], [0, -1, -1], [2, -1, -1]]))
    assert rank.better.tolist() == [1, 2, 1]
    assert rank.tied.tolist() == [2, 1, 3]
    assert rank.gold_tied.tolist() == [1, 1, 1]
    none = rank_gold(np.zeros((0, 5)), pad_gold([]))
    assert success_at_k(none, 1).shape == reciprocal_rank(none).shape == (0,)


def theirs(scores: np.ndarray, gold: list[list[int]], depth: int) -> dict[Measure, list[float]]:
    """Values per query, of the best `depth` documents; ids sort as the documents do."""
    qrels = [Qrel(f"{q}", f"{d:06}", 1) for q, row in enumerate(gold) for d in row]
    run = [
        ScoredDoc(f"{q}", f"{d:06}", float(scores[q, d]))
        for q, order in enumerate(ranked(scores))
        for d in order[:depth]
    ]
    values: dict[Measure, list[float]] = {measure: [0.0] * len(gold) for measure in MEASURES}
    for value in ir_measures.iter_calc(MEASURES, qrels, run):
        values[value.measure][int(value.query_id)] = value.value
    return values


def assert_equal_theirs(scores: np.ndarray, gold: list[list[int]], depth: int) -> None:
    found = RelevantPositions.of(ranked(scores), pad_gold(gold), depth)
    successes = [found.success_at_k(k) for k in (1, 3, 10)]
    ours = [found.average_precision(), found.reciprocal_rank(), *successes]
    for values, expected in zip(ours, theirs(scores, gold, depth).values(), strict=True):
        np.testing.assert_allclose(values, expected, atol=1e-12)


@st.composite
def listed_cases(draw: st.DrawFn) -> tuple[np.ndarray, list[list[int]], int]:
    """Draw a few queries with many ties, and a depth that cuts some lists."""
    documents = draw(st.integers(1, 12))
    row = st.lists(st.sampled_from([-1.5, 0.0, 0.25, 7.0]), min_size=documents, max_size=documents)
    scores = draw(st.lists(row, min_size=1, max_size=4))
    one = st.lists(st.integers(0, documents - 1), min_size=1, max_size=5, unique=True)
    gold = draw(st.lists(one, min_size=len(scores), max_size=len(scores)))
    return np.array(scores, dtype=np.float32), gold, draw(st.integers(1, 12))


@pytest.mark.thorough
@given(listed_cases())
def test_equal_ir_measures_ties_included(case: tuple[np.ndarray, list[list[int]], int]) -> None:
    assert_equal_theirs(*case)


def test_equal_ir_measures_on_scores_that_differ_in_the_last_digit() -> None:
    """600 documents between 0.5 and the 600th number of float32 after it."""
    numbers = np.nextafter(np.float32(0.5), np.float32(1)) - np.float32(0.5)
    steps = np.random.default_rng(1).permuted(np.tile(np.arange(600), (20, 1)), axis=1)
    scores = (0.5 + steps * numbers).astype(np.float32)
    assert all(len(set(row)) == 600 for row in scores.tolist())
    assert_equal_theirs(scores, [[query, 599 - query, 300] for query in range(20)], 600)


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


def test_other_faults() -> None:
    with pytest.raises(ValueError, match="k = 0"):
        success_at_k(rank_of(0, 1, 1), 0)
    with pytest.raises(ValueError, match="query 1 has a score that is NaN"):
        ranked(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(ValueError, match="query 1 has no relevant document"):
        RelevantPositions.of(np.array([[0, 1], [1, 0]]), pad_gold([[0], []]), 2)
