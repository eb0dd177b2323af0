"""No near-duplicates, and a share for each occupation: a plain loop says the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.apps.review import diversify as diversifying
from tasks.apps.review.diversify import ALIKE, diversify


def on_circle(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def plain(embeddings: np.ndarray, occupations: Sequence[str | None], budget: int) -> list[int]:
    """Go through the candidates one by one, twice."""
    limit, queue, given_ = max(2, budget // 20), [], Counter()
    for limited in (True, False):
        for place, occupation in enumerate(occupations):
            alike = any(embeddings[place] @ embeddings[other] >= ALIKE for other in queue)
            if len(queue) < budget and not alike and not (limited and given_[occupation] == limit):
                queue.append(place)
                given_[occupation] += limited
    return sorted(queue)


def test_a_near_duplicate_of_a_better_one_is_left_out() -> None:
    """The cosine of 20° is 0.94, of 30° 0.87."""
    assert diversify(on_circle(0, 20, 30), ["a", "b", "c"], 3) == [0, 2]


def test_an_occupation_takes_more_than_its_share_only_of_what_is_left() -> None:
    embeddings = on_circle(*range(0, 360, 60))
    assert diversify(embeddings, ["a", "a", "a", "a", "b", None], 4) == [0, 1, 4, 5]
    assert diversify(embeddings, ["a", "a", "a", "a", "b", None], 5) == [0, 1, 2, 4, 5]


def test_nothing_gives_nothing() -> None:
    assert diversify(np.zeros((0, 8), np.float32), [], 5) == []


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diversifying, "BLOCK", 3)


@pytest.mark.thorough
@given(
    st.lists(st.tuples(st.integers(0, 35), st.sampled_from(["a", "b", None])), max_size=30),
    st.integers(1, 50),
)
def test_as_the_plain_loop(drawn: list[tuple[int, str | None]], budget: int) -> None:
    embeddings = on_circle(*(10 * angle for angle, _ in drawn))
    occupations = [occupation for _, occupation in drawn]
    assert diversify(embeddings, occupations, budget) == plain(embeddings, occupations, budget)
