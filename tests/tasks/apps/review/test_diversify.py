"""No near-duplicates, and a share for each occupation."""

from __future__ import annotations

import numpy as np

from tasks.apps.review.diversify import diversify


def on_circle(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_near_duplicate_of_a_better_one_is_left_out() -> None:
    """The cosine of 20° is 0.94, of 30° 0.87."""
    assert diversify(on_circle(0, 20, 30), ["a", "b", "c"], 3) == [0, 2]


def test_an_occupation_takes_more_than_its_share_only_of_what_is_left() -> None:
    embeddings = on_circle(*range(0, 360, 60))
    assert diversify(embeddings, ["a", "a", "a", "a", "b", None], 4) == [0, 1, 4, 5]
    assert diversify(embeddings, ["a", "a", "a", "a", "b", None], 5) == [0, 1, 2, 4, 5]


def test_nothing_gives_nothing() -> None:
    assert diversify(np.zeros((0, 8), np.float32), [], 5) == []
