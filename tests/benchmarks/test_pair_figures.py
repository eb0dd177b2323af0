"""Figures of pairs: pooled over seeds by hand, intervals as `models/metrics/correlations` has."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.pair_figures import (
    DRAWS,
    Figure,
    compared,
    gains,
    mean_over_sets,
    rows_of,
    separated,
    word_overlap,
)
from models.metrics.correlations import MEASURES, Measure, resampled_measure
from models.metrics.intervals import bootstrap_interval
from models.reproducibility.seeding import child_seed
from models.training.scored_pairs import ScoredPairs
from tasks.papers.similarity.similarity_measures import Measured

RANDOM = np.random.default_rng(5)
GOLD = RANDOM.random(40)
GOOD, BAD = GOLD + 0.2 * RANDOM.random((2, 40)), GOLD + 2 * RANDOM.random((2, 40))
DRAW = child_seed(0, "pairs", "toy")


def one(value: float, draws: list[float]) -> Measured:
    return Measured(np.array([value]), np.array(draws))


def test_rows_of_each_seed_and_of_all() -> None:
    figure = compared("pearson", GOOD.tolist(), GOLD, "toy")
    first, second, pooled = rows_of("s", {("t", "pearson"): figure}, [1, 2])
    assert (first.seed, second.seed, pooled.seed) == (1, 2, None)
    assert pooled.value == pytest.approx((first.value + second.value) / 2)
    assert {(row.system, row.test, row.metric, row.n) for row in (first, second, pooled)} == {
        ("s", "t", "pearson", 40)
    }
    assert [row.seed for row in rows_of("s", {("t", "pearson"): figure})] == [None]


@pytest.mark.parametrize("measure", ["pearson", "spearman", "mean_squared_error"])
def test_one_network_has_the_interval_of_its_pairs(measure: Measure) -> None:
    for scores in GOOD:
        (row,) = rows_of("s", {("t", measure): compared(measure, [scores.tolist()], GOLD, "toy")})
        drawn = resampled_measure(measure, scores[None], GOLD, DRAWS, DRAW)[0]
        value = MEASURES[measure](scores, GOLD)
        ends = np.quantile(drawn, [0.025, 0.975])
        assert (row.value, row.low, row.high) == pytest.approx((value, *ends))


def test_a_difference_is_paired() -> None:
    good, bad = (
        {("t", "pearson"): compared("pearson", [own[0].tolist()], GOLD, "toy")}
        for own in (GOOD, BAD)
    )
    (row,) = rows_of("s", gains(good, bad))
    assert row.metric == "gain_pearson"
    drawn = [resampled_measure("pearson", s[:1], GOLD, DRAWS, DRAW)[0] for s in (GOOD, BAD)]
    value = MEASURES["pearson"](GOOD[0], GOLD) - MEASURES["pearson"](BAD[0], GOLD)
    low, high = np.quantile(drawn[0] - drawn[1], [0.025, 0.975])
    assert (row.value, row.low, row.high) == pytest.approx((value, low, high))
    assert row.low is not None and row.low > 0


def test_shares_have_the_interval_of_a_mean_each_seed_with_its_threshold() -> None:
    right = (GOLD > 0.5).astype(float)
    both = rows_of(
        "s", {("t", "accuracy"): separated(GOOD.tolist(), right, [0.5, 0.6], "t")}, [1, 2]
    )
    for row, scores, cut in zip(both, GOOD, (0.5, 0.6), strict=False):
        hits = ((scores >= cut) == (right == 1)).astype(float)
        assert row.value == pytest.approx(hits.mean())
        (alone,) = rows_of("s", {("t", "a"): separated([scores.tolist()], right, [cut], "toy")})
        ends = bootstrap_interval(hits, DRAWS, DRAW)
        assert (alone.value, alone.low, alone.high) == pytest.approx(
            (ends.value, ends.low, ends.high)
        )


def test_each_set_counts_once() -> None:
    small, large = one(0.2, [0.1, 0.3]), one(0.6, [0.5, 0.5])
    both = mean_over_sets([Figure(small, 100), Figure(large, 10)])
    assert both.n == 110
    assert both.measured.value == pytest.approx(0.4)
    np.testing.assert_allclose(both.measured.resampled, [0.3, 0.4])


def test_draws_without_a_value_are_left_out() -> None:
    figure = one(0.5, [np.nan, 0.5, 0.5])
    assert next(rows_of("s", {("t", "pearson"): Figure(figure, 3)})).low == 0.5


def test_equal_predictions_are_refused() -> None:
    with pytest.raises(ValueError, match="pearson on toy is undefined: all predictions"):
        compared("pearson", [[0.5] * 40], GOLD, "toy")


def test_word_overlap_by_hand() -> None:
    """{a, dog, runs} and {a, dog}: 2·2 / 5; nothing shared: 0; the same words: 1; no word: 0."""
    pairs = ScoredPairs.of(["A dog runs", "x", "b  a", " "], ["a dog dog", "y", "a b", ""])
    assert word_overlap(pairs) == [0.8, 0.0, 1.0, 0.0]
