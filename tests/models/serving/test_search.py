"""Titles looked up in an index against plain loops: what every system is asked by."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.serving import search
from models.serving.index import AliasIndex
from models.serving.scores import ScoreRule
from models.serving.search import TITLES_AT_ONCE, Search, nearest_titles

OWNED = [("cook", "a"), ("nurse", "b"), ("tutor", "b"), ("tutor", "c"), ("coach", "b")]
INDEX = AliasIndex.of(*map(list, zip(*OWNED, strict=True)))
KNOWN = st.dictionaries(
    st.sampled_from("uvwxyz"),
    st.lists(st.sampled_from([0.0, 0.25, 0.5]), min_size=4, max_size=4),
    min_size=1,
)


def system(known: dict[str, list[float]], rule: str = "best") -> Search:
    """A system whose similarities to coach, cook, nurse and tutor are known."""

    def similarities(titles: Sequence[str]) -> np.ndarray:
        return np.array([known[title] for title in titles], np.float32)

    return Search(INDEX, similarities, ScoreRule(rule, 0.1))  # type: ignore[arg-type]


def by_loop(values: list[float], rule: str) -> dict[str, tuple[float, str]]:
    """Score and closest title of each occupation; of equal titles the first by name."""
    scores = {}
    for occupation in "abc":
        held = sorted(title for title, owner in OWNED if owner == occupation)
        near = {title: values[INDEX.titles.index(title)] for title in held}
        closest = max(held, key=lambda title: near[title])
        total = math.fsum(math.exp(value / 0.1) for value in near.values())
        soft = 0.1 * (math.log(total) - 0.5 * math.log(len(held)))
        scores[occupation] = (near[closest] if rule == "best" else soft, closest)
    return scores


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["best", "soft"])
@given(known=KNOWN, depth=st.integers(1, 4), block=st.integers(1, 4))
def test_equals_the_loop_in_any_blocks(rule, known, depth, block) -> None:
    """Ranks fall, equal scores stand in the order of ids, and no block shows."""
    titles = list(known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "TITLES_AT_ONCE", block)
        blocks = list(system(known, rule).blocks(titles, depth))
    assert [row for rows, _ in blocks for row in range(*rows.indices(99))] == [*range(len(known))]
    for rows, hits in blocks:
        assert hits.occupations.shape == hits.titles.shape == (len(hits.scores), min(depth, 3))
        for row, title in enumerate(titles[rows]):
            expected = by_loop(known[title], rule)
            values = hits.scores[row].tolist()
            assert values == pytest.approx([score for score, _ in expected.values()], abs=1e-6)
            ranked = hits.occupations[row].tolist()
            assert ranked == sorted(range(3), key=lambda code: (-values[code], code))[:depth]
            closest = [INDEX.titles[number] for number in hits.titles[row]]
            assert closest == [expected["abc"[code]][1] for code in ranked]


def test_no_titles_are_no_block() -> None:
    assert list(system({}).blocks([], 3)) == []


def test_the_closest_by_a_loop_over_several_blocks() -> None:
    draw = np.random.default_rng(1)
    vectors = {
        str(row): draw.normal(size=4).astype(np.float32) for row in range(TITLES_AT_ONCE + 3)
    }
    others = draw.normal(size=(7, 4)).astype(np.float32)

    def embed(titles: list[str]) -> np.ndarray:
        return np.stack([vectors[title] for title in titles])

    found = list(nearest_titles(list(vectors), embed, others, 3))
    assert len(found) == 3 * len(vectors)
    for row, vector in enumerate(vectors.values()):
        values = [float(vector @ other) for other in others]
        best = sorted(range(7), key=lambda row: -values[row])[:3]
        own = [one for one in found if one[0] == row]
        assert [one[1:3] for one in own] == list(enumerate(best, start=1))
        assert [one[3] for one in own] == pytest.approx([values[b] for b in best], abs=1e-5)


def test_equal_ones_stand_in_their_order_and_fewer_are_all() -> None:
    same = np.ones((2, 3), np.float32)
    found = list(nearest_titles(["a"], lambda titles: np.ones((len(titles), 3)), same, 5))
    assert [one[1:3] for one in found] == [(1, 0), (2, 1)]
    with pytest.raises(ValueError, match="k = 0"):
        list(nearest_titles(["a"], lambda titles: same, same, 0))
