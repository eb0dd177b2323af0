"""Scores of occupations against plain loops over their aliases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.search.index import AliasIndex
from models.search.occupation_scores import (
    Memberships,
    ScoreRule,
    best_scores,
    best_titles,
    soft_scores,
)

TEMPERATURE = 0.06


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, list[tuple[int, int]], int]:
    """Similarities, (title, occupation) pairs in any order with repeats, and occupations."""
    titles, occupations = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    held = st.lists(st.integers(0, titles - 1), min_size=1, max_size=6)
    pairs = [(title, occupation) for occupation in range(occupations) for title in draw(held)]
    values = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])
    rows = st.lists(values, min_size=titles, max_size=titles)
    similarities = np.array(draw(st.lists(rows, min_size=1, max_size=3)))
    return similarities, draw(st.permutations(pairs)), occupations


def memberships_of(pairs: list[tuple[int, int]], occupations: int) -> Memberships:
    title_index, occupation_index = np.array(pairs).T
    return Memberships.from_pairs(title_index, occupation_index, occupations)


@pytest.mark.thorough
@given(cases())
@settings(deadline=None)
def test_best_soft_and_best_titles_equal_the_loops(
    case: tuple[np.ndarray, list[tuple[int, int]], int],
) -> None:
    similarities, pairs, occupations = case
    memberships = memberships_of(pairs, occupations)
    best = best_scores(similarities, memberships)
    soft = soft_scores(similarities, memberships, TEMPERATURE)
    query_index, occupation_index = np.indices(best.shape).reshape(2, -1)
    titles = best_titles(similarities, memberships, query_index, occupation_index)
    for query, occupation, title in zip(query_index, occupation_index, titles, strict=True):
        aliases = sorted({t for t, o in pairs if o == occupation})
        values = [float(similarities[query, t]) for t in aliases]
        total = math.fsum(math.exp(value / TEMPERATURE) for value in values)
        expected = TEMPERATURE * (math.log(total) - 0.5 * math.log(len(values)))
        assert best[query, occupation] == max(values)
        assert soft[query, occupation] == pytest.approx(expected, abs=1e-12)
        assert title == aliases[values.index(max(values))]


def test_an_alias_weighs_what_its_language_does() -> None:
    """One English alias of weight 4 and a German one, both of two occupations, at 0.5 and 0.3.

    t = 0.1: 0.1·log(4·e^5 + e^3) − 0.05·log 5 = 0.5 + 0.1·log(4 + e^−2) − 0.05·log 5. Of a title of
    two languages the first counts.
    """
    titles, owners = ["a", "b", "a", "b", "a"], ["x", "x", "y", "y", "x"]
    index = AliasIndex.of(titles, owners, ["en", "de", "de", "en", "de"])
    similarities = np.array([[0.5, 0.3]])
    rule = ScoreRule("soft", 0.1, {"en": 4.0})
    first = 0.5 + 0.1 * math.log(4 + math.exp(-2)) - 0.05 * math.log(5)
    second = 0.5 + 0.1 * math.log(1 + 4 * math.exp(-2)) - 0.05 * math.log(5)
    assert rule(similarities, index.memberships)[0] == pytest.approx([first, second])
    assert rule.weights(AliasIndex.of(titles, owners).memberships) is None
    assert ScoreRule("best", 0.1, {"en": 4.0})(similarities, index.memberships).tolist() == [
        [0.5, 0.5]
    ]


def test_golden_soft_score() -> None:
    """Two aliases at 0.5 and 0.5, t = 0.1: 0.5 + 0.1·log 2 − 0.05·log 2 = 0.5 + 0.05·0.693147."""
    memberships = memberships_of([(0, 0), (1, 0), (2, 1)], 2)
    similarities = np.array([[0.5, 0.5, 0.5]], dtype=np.float32)
    soft = soft_scores(similarities, memberships, 0.1)
    assert soft.dtype == np.float32
    np.testing.assert_allclose(soft, [[0.5346574, 0.5]], rtol=1e-6)


def test_soft_does_not_overflow_or_change_its_input() -> None:
    memberships = memberships_of([(0, 0), (1, 0)], 1)
    similarities = np.array([[9000.0, -9000.0], [0.0, 0.0]], dtype=np.float32)
    before = similarities.copy()
    soft = soft_scores(similarities, memberships, 0.06)
    np.testing.assert_allclose(soft, [[9000.0], [0.03 * math.log(2)]], rtol=1e-5)
    np.testing.assert_array_equal(similarities, before)


def test_a_title_of_two_occupations_scores_for_both() -> None:
    memberships = memberships_of([(0, 1), (0, 0), (1, 1)], 2)
    assert best_scores(np.array([[0.7, 0.2]]), memberships).tolist() == [[0.7, 0.7]]


def test_no_asked_answers_and_no_occupations() -> None:
    memberships = memberships_of([(0, 0)], 1)
    none = np.array([], dtype=np.int64)
    assert best_titles(np.ones((2, 1)), memberships, none, none).shape == (0,)
    nobody = Memberships.from_pairs(none, none, 0)
    assert best_scores(np.ones((2, 1)), nobody).shape == (2, 0)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 0), (1, 2)], "1 of 3 occupations have no title, the first is 1"),
        ([(0, 0), (0, 1), (0, 2), (0, 3)], "no occupation below 3"),
        ([(-1, 0), (0, 1), (0, 2)], "negative"),
    ],
)
def test_faults_are_named(pairs: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        memberships_of(pairs, 3)
