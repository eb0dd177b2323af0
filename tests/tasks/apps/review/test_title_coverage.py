"""The greedy choice beside a loop over all titles, on points of a circle and of a sphere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.apps.review import title_coverage
from tasks.apps.review.title_coverage import ALIKE, WEIGHT, Coverage

NONE = np.zeros((0, 2), np.float32)


def on_circle(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def circle(degrees: list[float], weights: list[float], score: float = 0.8) -> Coverage:
    scores = np.full(len(degrees), score, np.float32)
    return Coverage(on_circle(*degrees), scores, np.array(weights, np.float32), 0.07)


def test_a_title_amid_others_is_better_than_the_heaviest() -> None:
    """That of most rows stands alone; four lighter ones lie 30 and 60 degrees around another."""
    titles = circle([180, -60, -30, 0, 30, 60], [5, 2, 2, 2, 2, 2], score=0.6)
    assert titles(NONE, 1).places.tolist() == [3]
    assert titles(NONE, 2).places.tolist() == [3, 0]


def test_a_review_helps_less_where_the_model_knows_a_closer_title() -> None:
    """Titles in pairs, 30 degrees apart (cosine .87), of equal weights and different scores."""
    titles = circle([0, 30, 180, 210], [1, 1, 1, 1])
    titles.scores[:2] = 0.95
    assert titles(NONE, 1).places.tolist() == [2]


def test_none_is_nearly_another_nor_one_that_is_reviewed_anyway() -> None:
    """The cosine of 20 degrees is .94, that of 30 degrees .87."""
    titles = circle([0, 20, 30, 100], [9, 9, 9, 1])
    assert sorted(titles(NONE, 9).places.tolist()) in ([0, 2, 3], [1, 3])
    assert titles(on_circle(15), 9).places.tolist() == [3]


def loop(titles: Coverage, reviewed: np.ndarray, budget: int) -> tuple[list[int], list[float]]:
    """Compute the worth of every choice anew, as the module's formula has it."""
    embeddings, weights = titles.embeddings.astype(float), titles.weights.astype(float)

    def worth(votes: np.ndarray) -> float:
        v = WEIGHT * np.exp((embeddings @ votes.T - titles.scores[:, None]) / titles.temperature)
        return float(weights @ np.log(1 + (v / (1 + v)).sum(axis=1)))

    votes, chosen, gains = reviewed.astype(float), [], []
    for _ in range(budget):
        near = (embeddings @ votes.T).max(axis=1, initial=-1)
        remaining = np.flatnonzero(near < ALIKE)
        if not len(remaining):
            break
        gain = [worth(np.vstack([votes, embeddings[[k]]])) - worth(votes) for k in remaining]
        chosen.append(int(remaining[np.argmax(gain)]))
        gains.append(max(gain))
        votes = np.vstack([votes, embeddings[chosen[-1:]]])
    return chosen, gains


@pytest.mark.thorough
@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 3), st.integers(0, 12))
@settings(max_examples=40, deadline=None)
def test_any_titles_as_in_the_loop(seed: int, count: int, others: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count + others, 4)).astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    weights = np.sort(rng.random(count) + 0.1)[::-1].astype(np.float32)
    scores = rng.uniform(0.5, 1, count).astype(np.float32)
    titles = Coverage(points[:count], scores, weights, 0.07)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(title_coverage, "AT_ONCE", 3)
        patch.setattr(title_coverage, "ROWS_AT_ONCE", 7)
        rows, gains = titles(points[count:], budget)
    expected, expected_gains = loop(titles, points[count:], budget)
    assert rows.tolist() == expected
    np.testing.assert_allclose(gains, expected_gains, rtol=1e-3, atol=1e-4)


def test_light_titles_count_though_they_cannot_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(title_coverage, "CANDIDATES", 2)
    titles = circle([180, 0, 26, -26, 27, -27], [2, 1.9, 1, 1, 1, 1], score=0.7)
    assert titles(NONE, 3).places.tolist() == [1, 0]
