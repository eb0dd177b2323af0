"""Measures of ranked lists against ir-measures, which asks trec_eval, and against the project's."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, Measure, Qrel, ScoredDoc, Success

from models.metrics import gold_ranks as metrics
from models.metrics.gold_ranks import pad_gold, rank_gold
from models.metrics.retrieval import RelevantPlaces, ranked

MEASURES: dict[Measure, str] = {AP: "AP", RR: "RR", **{Success @ k: "S" for k in (1, 3, 10)}}


def theirs(scores: np.ndarray, gold: list[list[int]], depth: int) -> dict[Measure, list[float]]:
    """Values per query, of the best `depth` documents; ids sort as the documents do."""
    qrels = [Qrel(f"{q}", f"{d:06}", 1) for q, row in enumerate(gold) for d in row]
    run = [
        ScoredDoc(f"{q}", f"{d:06}", float(scores[q, d]))
        for q, order in enumerate(ranked(scores))
        for d in order[:depth]
    ]
    values: dict[Measure, list[float]] = {measure: [0.0] * len(gold) for measure in MEASURES}
    for value in ir_measures.iter_calc(list(MEASURES), qrels, run):
        values[value.measure][int(value.query_id)] = value.value
    return values


def ours(scores: np.ndarray, gold: list[list[int]], depth: int) -> dict[Measure, np.ndarray]:
    found = RelevantPlaces.of(ranked(scores), pad_gold(gold), depth)
    return {
        AP: found.average_precision(),
        RR: found.reciprocal_rank(),
        **{Success @ k: found.success_at_k(k) for k in (1, 3, 10)},
    }


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, list[list[int]], int]:
    """Draw a few queries with many ties, and a depth that cuts some lists."""
    documents = draw(st.integers(1, 12))
    row = st.lists(st.sampled_from([-1.5, 0.0, 0.25, 7.0]), min_size=documents, max_size=documents)
    scores = draw(st.lists(row, min_size=1, max_size=4))
    one = st.lists(st.integers(0, documents - 1), min_size=1, max_size=5, unique=True)
    gold = draw(st.lists(one, min_size=len(scores), max_size=len(scores)))
    return np.array(scores, dtype=np.float32), gold, draw(st.integers(1, 12))


@pytest.mark.thorough
@given(cases())
def test_equal_ir_measures_ties_included(case: tuple[np.ndarray, list[list[int]], int]) -> None:
    expected = theirs(*case)
    for measure, values in ours(*case).items():
        np.testing.assert_allclose(values, expected[measure], atol=1e-12, err_msg=str(measure))


def test_equal_ir_measures_on_scores_that_differ_in_the_last_digit() -> None:
    """600 documents between 0.5 and the 600th number of float32 after it."""
    numbers = np.nextafter(np.float32(0.5), np.float32(1)) - np.float32(0.5)
    steps = np.random.default_rng(1).permuted(np.tile(np.arange(600), (20, 1)), axis=1)
    scores = (0.5 + steps * numbers).astype(np.float32)
    assert all(len(set(row)) == 600 for row in scores.tolist())
    gold = [[query, 599 - query, 300] for query in range(20)]
    expected = theirs(scores, gold, 600)
    for measure, values in ours(scores, gold, 600).items():
        np.testing.assert_allclose(values, expected[measure], atol=1e-12)


def test_without_ties_they_are_the_projects_own() -> None:
    random = np.random.default_rng(2)
    scores = random.permuted(np.tile(np.arange(50.0), (30, 1)), axis=1)
    gold = pad_gold([random.permutation(50)[: 1 + query % 4].tolist() for query in range(30)])
    found, rank = RelevantPlaces.of(ranked(scores), gold, 50), rank_gold(scores, gold)
    np.testing.assert_allclose(found.reciprocal_rank(), metrics.reciprocal_rank(rank))
    np.testing.assert_array_equal(found.success_at_k(5), metrics.success_at_k(rank, 5))


def test_golden() -> None:
    """Order d3 d2 d0 d1 (of the tied 0.5, the later first); relevant d2, d1 at places 2 and 4.

    Average precision (1/2 + 2/4) / 2 = 1/2; cut at 3 places (1/2) / 2 = 1/4.
    """
    scores = np.array([[0.5, 0.1, 0.5, 0.9]], dtype=np.float32)
    assert ranked(scores).tolist() == [[3, 2, 0, 1]]
    whole = RelevantPlaces.of(ranked(scores), np.array([[1, 2, -1]]), 4)
    assert whole.places.tolist() == [[2, 4, np.inf]]
    assert whole.average_precision()[0] == 0.5
    assert (whole.success_at_k(1)[0], whole.success_at_k(2)[0]) == (0, 1)
    truncated = RelevantPlaces.of(ranked(scores), np.array([[1, 2, -1]]), 3)
    assert (truncated.average_precision()[0], truncated.reciprocal_rank()[0]) == (0.25, 0.5)


def test_nothing_found_is_zero() -> None:
    found = RelevantPlaces.of(ranked(np.array([[3.0, 2.0, 1.0]])), np.array([[2]]), 2)
    assert found.average_precision()[0] == found.reciprocal_rank()[0] == 0
    assert found.success_at_k(10)[0] == 0


def test_faults_are_named() -> None:
    with pytest.raises(ValueError, match="query 1 has a score that is NaN"):
        ranked(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(ValueError, match="query 1 has no relevant document"):
        RelevantPlaces.of(np.array([[0, 1], [1, 0]]), pad_gold([[0], []]), 2)
