"""What inputs add to the scores, against a plain loop; nothing known changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.search.exemplars import Exemplars, posterior
from models.search.index import AliasIndex

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
def test_equals_the_loop(
    scores: list[float], closeness: list[float], links: list[tuple[str, str, float]], bias: float
) -> None:
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


def test_titles_of_occupations_outside_the_index_keep_their_place() -> None:
    """Embeddings of exemplars stand in the order of all titles, whatever index is searched."""
    known = exemplars([("y", "gone", 1.0), ("x", "gone", 1.0), ("z", "a", 1.0)], {})
    assert known.titles == ["x", "y", "z"]
    assert known.title_numbers.tolist() == [2]


def test_posterior_by_hand() -> None:
    """Scores 0 and t·log 3 are chances of 1/4 and 3/4."""
    made = posterior(np.array([[0.0, T * math.log(3)], [9.0, 9.0]]), T)
    assert made == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5]]))
