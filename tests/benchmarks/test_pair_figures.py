"""Figures of pairs: pooled over seeds by hand, intervals against those of `models/correlations`."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.pair_figures import DRAWS, Resampled, compared, mean_over_sets, share, word_overlap
from benchmarks.scored_sets import StringPairs
from models.correlations import measure_interval, paired_measure_interval
from models.intervals import bootstrap_interval
from models.seeding import child_seed

RANDOM = np.random.default_rng(5)
GOLD = RANDOM.random(40)
GOOD, BAD = GOLD + 0.2 * RANDOM.random((2, 40)), GOLD + 2 * RANDOM.random((2, 40))
DRAW = child_seed(0, "pairs", "toy")


def test_pooled_is_the_mean_over_seeds_in_every_draw() -> None:
    """Values 0.2 and 0.6 have the mean 0.4; draws (0, 0.4), (0.4, 0.8), (0.2, 0.6): 0.2, 0.6, 0.4.

    The 2.5 % quantile of 0.2, 0.4, 0.6 lies 0.05 of the way from 0.2 to 0.4: 0.21.
    """
    found = Resampled(np.array([0.2, 0.6]), np.array([[0, 0.4, 0.2], [0.4, 0.8, 0.6]]), 9)
    first, second, pooled = found.rows("pearson", [1, 2])
    assert (first["seed"], second["seed"], pooled["seed"]) == (1, 2, None)
    assert (first["value"], second["value"]) == (0.2, 0.6)
    assert first["low"] == pytest.approx(0.01)
    assert pooled["value"] == pytest.approx(0.4)
    assert (pooled["low"], pooled["high"]) == pytest.approx((0.21, 0.59))
    assert {row["n"] for row in (first, second, pooled)} == {9}
    assert [row["seed"] for row in found.rows("pearson", [None])] == [None]


@pytest.mark.parametrize("measure", ["pearson", "spearman", "mean_squared_error"])
def test_a_seed_has_the_interval_of_one_system(measure: str) -> None:
    found = compared(measure, GOOD.tolist(), GOLD.tolist(), "toy")  # type: ignore[arg-type]
    for scores, row in zip(GOOD, found.rows(measure, [1, 2]), strict=False):
        ends = measure_interval(measure, scores, GOLD, DRAWS, DRAW)  # type: ignore[arg-type]
        assert (row["value"], row["low"], row["high"]) == pytest.approx(
            (ends.value, ends.low, ends.high)
        )


def test_a_difference_is_paired() -> None:
    found = compared("pearson", GOOD, GOLD, "toy") - compared("pearson", BAD, GOLD, "toy")
    row = next(found.rows("gain_pearson", [1, 2]))
    ends = paired_measure_interval("pearson", GOOD[0], BAD[0], GOLD, DRAWS, DRAW)
    assert (row["value"], row["low"], row["high"]) == pytest.approx(
        (ends.value, ends.low, ends.high)
    )
    assert row["low"] > 0


def test_shares_have_the_interval_of_a_mean() -> None:
    hits = GOOD > 0.5
    found = share(hits, "toy")
    ends = bootstrap_interval(hits[1].astype(float), DRAWS, DRAW)
    _, row, _ = found.rows("accuracy", [1, 2])
    assert (row["value"], row["low"], row["high"]) == pytest.approx(
        (ends.value, ends.low, ends.high)
    )


def test_each_set_counts_once() -> None:
    one = Resampled(np.array([0.2]), np.array([[0.1, 0.3]]), 100)
    other = Resampled(np.array([0.6]), np.array([[0.5, 0.5]]), 10)
    found = mean_over_sets([one, other])
    assert found.n == 110
    assert_allclose(found.values, [0.4])
    assert_allclose(found.draws, [[0.3, 0.4]])


def test_draws_without_a_value_are_left_out() -> None:
    found = Resampled(np.array([0.5]), np.array([[np.nan, 0.5, 0.5]]), 3)
    assert next(found.rows("pearson", [1]))["low"] == 0.5


def test_equal_predictions_are_refused() -> None:
    with pytest.raises(ValueError, match="pearson on toy is undefined: all predictions"):
        compared("pearson", [[0.5] * 40], GOLD.tolist(), "toy")


def test_word_overlap_by_hand() -> None:
    """{a, dog, runs} and {a, dog}: 2·2 / 5; nothing shared: 0; the same words: 1; no word: 0."""
    pairs = StringPairs(["A dog runs", "x", "b  a", " "], ["a dog dog", "y", "a b", ""])
    assert word_overlap(pairs) == [0.8, 0.0, 1.0, 0.0]
