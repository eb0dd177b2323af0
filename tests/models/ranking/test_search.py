"""Titles looked up in an index against plain loops: what every system is asked by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ranking import search
from models.ranking.index import AliasIndex
from models.ranking.occupation_scores import ScoreRule
from models.ranking.search import Search

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
def test_equals_the_loop_in_any_blocks(
    rule: str, known: dict[str, list[float]], depth: int, block: int
) -> None:
    """Ranks fall, equal scores stand in the order of ids, and no block shows."""
    titles = list(known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "TITLES_AT_ONCE", block)
        blocks = list(system(known, rule).blocks(titles, depth))
    assert [row for place, _ in blocks for row in range(*place.indices(99))] == [*range(len(known))]
    for place, hits in blocks:
        assert hits.occupations.shape == hits.titles.shape == (len(hits.scores), min(depth, 3))
        for row, title in enumerate(titles[place]):
            expected = by_loop(known[title], rule)
            values = hits.scores[row].tolist()
            assert values == pytest.approx([score for score, _ in expected.values()], abs=1e-6)
            ranked = hits.occupations[row].tolist()
            assert ranked == sorted(range(3), key=lambda code: (-values[code], code))[:depth]
            closest = [INDEX.titles[number] for number in hits.titles[row]]
            assert closest == [expected["abc"[code]][1] for code in ranked]


def test_no_titles_are_no_block() -> None:
    assert list(system({}).blocks([], 3)) == []
