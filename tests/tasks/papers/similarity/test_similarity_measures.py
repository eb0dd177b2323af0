"""Measures over seeds: means, intervals on the same draws, thresholds, undefined correlations."""

import numpy as np
import pytest

from models.metrics.correlations import agreement, resampled_measure
from tasks.papers.similarity.similarity_measures import accuracy, best_threshold, ends, measured

GOLD = np.array([0.0, 0.25, 0.5, 1.0, 0.75, 0.2])
SCORES = np.array([[0.1, 0.2, 0.6, 0.9, 0.4, 0.3], [0.3, 0.1, 0.7, 0.8, 0.9, 0.0]])


def test_one_seed_is_the_measure_and_its_percentiles() -> None:
    """Compare two systems on the same draws.

    With 81 draws the quantiles 0.025 and 0.975 are the 3rd smallest and the 3rd largest.
    """
    first, second = (measured("pearson", SCORES[[row]], GOLD, 81, 7) for row in (0, 1))
    both = resampled_measure("pearson", SCORES, GOLD, 81, 7)
    ordered = np.sort(both[0])
    expected = agreement("pearson", SCORES[0], GOLD), ordered[2], ordered[78]
    assert (first.value, *first.ends) == pytest.approx(expected)
    ordered = np.sort(both[0] - both[1])
    assert ends(first.resampled - second.resampled) == pytest.approx((ordered[2], ordered[78]))


def test_a_correlation_of_equal_values_is_not_defined() -> None:
    flat = np.full((1, 6), 0.5)
    assert measured("pearson", np.concatenate([SCORES, flat]), GOLD, 10, 1) is None
    assert measured("spearman", SCORES, np.full(6, 0.3), 10, 1) is None
    assert measured("mean_squared_error", flat, np.full(6, 0.5), 10, 1) is not None


def test_draws_without_a_value_are_left_out() -> None:
    """Take two pairs: a draw of one of them twice has no correlation, any other has r = 1."""
    correlation = measured("pearson", np.array([[0.1, 0.2]]), np.array([0.0, 1.0]), 50, 1)
    assert np.isnan(correlation.resampled).any()
    assert correlation.ends == pytest.approx((1.0, 1.0))
    assert ends(np.full(3, np.nan)) == (None, None)


def test_golden_accuracy() -> None:
    """Set the threshold to 0.5: yes, no, yes, yes; right are first, second and fourth: 3/4.

    Threshold 0.05: yes to all, right of the two paraphrases: 2/4. Mean 0.625.
    """
    gold, scores = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.9, 0.1, 0.7, 0.6])
    shares = accuracy(np.stack([scores, scores]), gold, [0.5, 0.05], 200, 1)
    assert shares.by_seed == pytest.approx([0.75, 0.5])
    low, high = shares.ends
    assert low is not None and high is not None and 0 <= low < 0.625 < high <= 1


@pytest.mark.parametrize(
    ("gold", "threshold"),
    [([0, 0, 1], 0.55), ([1, 1, 1], 0.2), ([0, 0, 0], np.inf), ([1, 0, 1], 0.2)],
)
def test_golden_threshold(gold: list[float], threshold: float) -> None:
    """Take scores 0.2, 0.3, 0.8: half way between second and third; all; none; all (2 of 3)."""
    best = best_threshold(np.array([0.2, 0.3, 0.8]), np.array(gold, float))
    assert best == pytest.approx(threshold)
