"""Intervals over seeds and queries: by hand, their limits, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from shapes import checked

from models.metrics.crossed_intervals import crossed_interval

interval_of = checked(crossed_interval)


def test_by_hand() -> None:
    """Rows 0 1 and 2 5: mean 2, seeds ±1.5, queries ±1, left ±.5; mean squares 9, 4 and 1."""
    interval = interval_of(np.array([[0.0, 1.0], [2.0, 5.0]]))
    freedom = 12**2 / (9**2 + 4**2 + 1**2)
    margin = stats.t.ppf(0.975, freedom) * np.sqrt(12 / 4)
    assert interval.value == 2.0
    assert (interval.low, interval.high) == pytest.approx((2 - margin, 2 + margin))


def test_seeds_that_agree_leave_the_queries() -> None:
    """Student's interval of the queries: what seeds do not change they do not widen."""
    query = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    interval = interval_of(np.tile(query, (4, 1)))
    margin = stats.t.ppf(0.975, 4) * query.std(ddof=1) / np.sqrt(5)
    assert interval.high - interval.value == pytest.approx(margin)


def test_queries_that_agree_leave_the_seeds() -> None:
    seed = np.array([0.1, 0.3, 0.2])
    interval = interval_of(np.tile(seed[:, None], (1, 50)))
    margin = stats.t.ppf(0.975, 2) * seed.std(ddof=1) / np.sqrt(3)
    assert interval.high - interval.value == pytest.approx(margin)


def test_equal_values_have_no_width() -> None:
    interval = interval_of(np.full((3, 4), 0.25))
    assert (interval.low, interval.value, interval.high) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize("values", [np.zeros((1, 5)), np.zeros((5, 1)), np.full((2, 2), np.nan)])
def test_too_few_are_refused(values: np.ndarray) -> None:
    with pytest.raises(ValueError, match="two of each"):
        interval_of(values)


@pytest.mark.thorough
def test_the_truth_lies_inside_in_95_of_100() -> None:
    """Five seeds, 40 queries, all three parts normal: 2,000 draws of a mean of 0."""
    random = np.random.default_rng(7)
    held = 0
    for _ in range(2000):
        seed, query = random.normal(size=(5, 1)) * 0.3, random.normal(size=40)
        interval = crossed_interval(seed + query + random.normal(size=(5, 40)))
        held += interval.low <= 0 <= interval.high
    assert 0.94 <= held / 2000 <= 0.98
