"""Scores of occupations against plain loops, with exemplars and a prior."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.serving.index import AliasIndex, Memberships
from models.serving.scores import Exemplars, ScoreRule, best_scores, best_titles, soft_scores
from tasks.pipeline.calibrate.prior import posterior

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
def test_best_soft_and_best_titles_equal_the_loops(case) -> None:
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


def test_soft_does_not_overflow_or_change_its_input() -> None:
    memberships = memberships_of([(0, 0), (1, 0)], 1)
    similarities = np.array([[9000.0, -9000.0], [0.0, 0.0]], dtype=np.float32)
    before = similarities.copy()
    soft = soft_scores(similarities, memberships, 0.06)
    assert soft.dtype == np.float32
    np.testing.assert_allclose(soft, [[9000.0], [0.03 * math.log(2)]], rtol=1e-5)
    np.testing.assert_array_equal(similarities, before)


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


INDEX = AliasIndex.of(["baker", "cook", "nurse"], ["a", "b", "c"])
T = 0.1
VALUES = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3)
LINKS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd"), st.sampled_from([0.25, 1.0, 3.0])),
    max_size=6,
)


def exemplars(links: list[tuple[str, str, float]], bias: dict[str, float]) -> Exemplars:
    columns = zip(*links, strict=True) if links else ((), (), ())
    named = zip(("title", "occupation_id", "weight"), map(list, columns), strict=True)
    return Exemplars.of(INDEX, bias, dict(named), T)


@pytest.mark.thorough
@given(scores=VALUES, closeness=VALUES, links=LINKS, bias=st.floats(-0.5, 0.5, width=32))
def test_equals_the_loop(scores, closeness, links, bias) -> None:
    known = exemplars(links, {"b": bias})
    near = dict(zip("xyz", closeness, strict=True))
    asked = np.array([[near[title] for title in known.titles]], np.float32)
    made = known(np.array([scores], np.float32), asked.reshape(1, len(known.titles)))[0]
    for name, score, value in zip("abc", scores, made.tolist(), strict=True):
        mass = math.exp((score + (bias if name == "b" else 0)) / T)
        mass += sum(weight * math.exp(near[t] / T) for t, owner, weight in links if owner == name)
        assert value == pytest.approx(T * math.log(mass), abs=2e-5)


def test_nothing_known_changes_nothing() -> None:
    scores = np.array([[0.1, 0.7, -0.2]], np.float32)
    made = exemplars([], {})(scores, np.empty((1, 0), np.float32))
    assert made.tobytes() == scores.tobytes()


def test_what_is_far_away_is_neither_lost_nor_counted() -> None:
    """With similarities that underflow, an occupation keeps its score."""
    known = Exemplars.of(
        INDEX, {}, {"title": ["x", "y"], "occupation_id": ["a", "b"], "weight": [1.0, 1.0]}, 1e-3
    )
    made = known(np.array([[0.5, 0.25, 0.125]]), np.array([[-1.0, 1.0]], np.float32))
    assert made[0].tolist() == pytest.approx([0.5, 1.0, 0.125])


def test_titles_of_occupations_outside_the_index_keep_their_rows() -> None:
    """Embeddings of exemplars stand in the order of all titles, whatever index is searched."""
    known = exemplars([("y", "gone", 1.0), ("x", "gone", 1.0), ("z", "a", 1.0)], {})
    assert known.titles == ["x", "y", "z"]
    assert known.title_numbers.tolist() == [2]


def test_posterior_by_hand() -> None:
    """Scores 0 and t·log 3 are chances of 1/4 and 3/4."""
    made = posterior(np.array([[0.0, T * math.log(3)], [9.0, 9.0]]), T)
    assert made == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5]]))
