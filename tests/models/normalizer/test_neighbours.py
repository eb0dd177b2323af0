"""Neighbours against a loop over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from models.normalizer.neighbours import AT_ONCE, closest


def test_the_closest_by_a_loop_over_several_blocks() -> None:
    draw = np.random.default_rng(1)
    vectors = {str(row): draw.normal(size=4).astype(np.float32) for row in range(AT_ONCE + 3)}
    others = draw.normal(size=(7, 4)).astype(np.float32)

    def embed(titles: list[str]) -> np.ndarray:
        return np.stack([vectors[title] for title in titles])

    found = list(closest(list(vectors), embed, others, 3))
    assert len(found) == 3 * len(vectors)
    for row, vector in enumerate(vectors.values()):
        values = [float(vector @ other) for other in others]
        best = sorted(range(7), key=lambda place: -values[place])[:3]
        own = [one for one in found if one.row == row]
        assert [(one.rank, one.place) for one in own] == list(enumerate(best, start=1))
        assert [one.similarity for one in own] == pytest.approx([values[b] for b in best], abs=1e-5)


def test_equal_ones_stand_in_their_order_and_fewer_are_all() -> None:
    same = np.ones((2, 3), np.float32)
    found = list(closest(["a"], lambda titles: np.ones((len(titles), 3)), same, 5))
    assert [(one.rank, one.place) for one in found] == [(1, 0), (2, 1)]
    with pytest.raises(ValueError, match="k = 0"):
        list(closest(["a"], lambda titles: same, same, 0))
