"""Correlations against scipy and by hand; the bootstrap against a plain loop over its draws."""

from typing import get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.metrics import correlations
from models.metrics.correlations import Measure, agreement, resampled_measure

SCIPY = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr}
MEASURES = get_args(Measure)
TWENTIETHS = st.integers(-100, 100).map(lambda twentieths: twentieths / 20)  # full of ties
PAIRS = (
    st.lists(st.tuples(TWENTIETHS, TWENTIETHS), min_size=3, max_size=25)
    .map(lambda pairs: np.array(pairs).T)
    .filter(lambda columns: np.ptp(columns, axis=1).all())
)


def noisy(pairs: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw gold from 0 to 5 in steps of 0.2 as SemEval has it, and scores around it."""
    random = np.random.default_rng(seed)
    gold = random.integers(26, size=pairs) / 5
    return gold + random.normal(scale=noise, size=pairs), gold


@pytest.mark.parametrize(
    ("measure", "scores", "gold", "expected"),
    [
        # ranks (1, 2.5, 2.5, 4) and (1, 3, 2, 4), deviations (−1.5, 0, 0, 1.5) and
        # (−1.5, 0.5, −0.5, 1.5): 4.5 / √(4.5 · 5) = 0.94868
        ("spearman", [0.1, 7.0, 7.0, 90.0], [0, 2, 1, 5], 4.5 / np.sqrt(22.5)),
        # (0.25 + 0.25 + 4) / 3 = 1.5
        ("mean_squared_error", [0.5, 1.5, 1.0], [1, 1, 3], 1.5),
    ],
)
def test_golden(measure: Measure, scores: list[float], gold: list[float], expected: float) -> None:
    value = checked(agreement)(measure, np.array(scores, float), np.array(gold, float))
    assert value == pytest.approx(expected)


@pytest.mark.thorough
@pytest.mark.parametrize("measure", SCIPY)
@given(columns=PAIRS)
@settings(max_examples=60)
def test_correlations_are_scipys(measure: Measure, columns: np.ndarray) -> None:
    expected = SCIPY[measure](*columns).statistic
    assert agreement(measure, *columns) == pytest.approx(expected, abs=1e-12)


def test_huge_and_tiny_scores_do_not_overflow() -> None:
    """Square 1e200, which is infinite, and 1e−200, which is zero; 1e9 + x loses no digit of x."""
    gold = np.array([1.0, 3.0, 2.0])
    for scale, offset in ((1e200, 0.0), (1e-200, 0.0), (1.0, 1e9)):
        scores = scale * np.array([1.0, 2.0, 3.0]) + offset
        assert agreement("pearson", scores, gold) == pytest.approx(0.5)


def test_single_precision_and_whole_numbers_are_taken_exactly() -> None:
    scores, gold = noisy(200, 1.0, seed=0)
    for measure in MEASURES:
        for values in (scores.astype(np.float32), (scores > 2).astype(np.int64)):
            exact = agreement(measure, values.astype(np.float64), gold)
            assert agreement(measure, values, gold) == exact


@pytest.mark.parametrize("measure", SCIPY)
def test_equal_scores_or_gold_leave_a_correlation_undefined(measure: Measure) -> None:
    """Take 0.1, without exact mean in binary: equal values are recognized by comparison."""
    same, rising = np.full(7, 0.1), np.arange(7.0)
    with pytest.raises(ValueError, match=rf"{measure} is undefined: the scores of 7 .* all 0\.1"):
        agreement(measure, same, rising)
    with pytest.raises(ValueError, match=r"gold of 7 pairs are all 0\.1; report it as missing"):
        agreement(measure, rising, same)
    with pytest.raises(ValueError, match="the gold of 1 pairs are all 2"):
        agreement(measure, np.array([1.0]), np.array([2.0]))
    assert agreement("mean_squared_error", same, same) == 0


def test_unpaired_missing_or_infinite_values_are_errors() -> None:
    for scores, message in (
        (np.zeros(3), "3 scores for 2 gold"),
        (np.array([0.0, np.nan]), "scores of pair 1 are not finite: leave"),
        (np.array([np.inf, 0.0]), "scores of pair 0 are not finite: leave"),
    ):
        with pytest.raises(ValueError, match=message):
            agreement("pearson", scores, np.arange(2.0))
    with pytest.raises(ValueError, match="0 scores for 0 gold"):
        agreement("pearson", np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="gold of pair 2 are not finite"):
        resampled_measure("spearman", np.eye(2, 3), np.array([1.0, 2.0, np.nan]), 5, 1)


@pytest.mark.parametrize("measure", MEASURES)
def test_bootstrap_is_a_loop_over_its_draws(measure, monkeypatch) -> None:
    """Measure each draw afresh with scipy, ranks within the draw; blocks do not change the draws.

    An odd number of pairs leaves no half-used random word.
    """
    (a, gold), (b, _) = noisy(41, 1.0, seed=1), noisy(41, 2.0, seed=1)
    random = np.random.default_rng(9)
    loops: list[list[float]] = [[], []]
    for _ in range(81):
        drawn = random.integers(41, size=41)
        for scores, loop in zip((a, b), loops, strict=True):
            if measure == "mean_squared_error":
                loop.append(np.mean([(scores[i] - gold[i]) ** 2 for i in drawn]))
            else:
                loop.append(SCIPY[measure](scores[drawn], gold[drawn]).statistic)
    resampled = checked(resampled_measure)(measure, np.stack([a, b]), gold, 81, 9)
    np.testing.assert_allclose(resampled, loops, atol=1e-12)
    for block in (1, 41 * 7):
        monkeypatch.setattr(correlations, "BLOCK", block)
        again = resampled_measure(measure, np.stack([a, b]), gold, 81, 9)
        assert again.tolist() == resampled.tolist()
