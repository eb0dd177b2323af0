"""Correlations against scipy and by hand; the bootstrap against a plain loop over its draws."""

from __future__ import annotations

import jaxtyping
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.metrics import correlations
from models.metrics.correlations import (
    mean_squared_error,
    pearson,
    resampled_measure,
    spearman,
)

CORRELATIONS = {"pearson": pearson, "spearman": spearman}
MEASURES = CORRELATIONS | {"mean_squared_error": mean_squared_error}
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
}
TWENTIETHS = st.integers(-100, 100).map(lambda twentieths: twentieths / 20)  # full of ties
PAIRS = (
    st.lists(st.tuples(TWENTIETHS, TWENTIETHS), min_size=3, max_size=25)
    .map(lambda pairs: np.array(pairs).T)
    .filter(lambda columns: np.ptp(columns, axis=1).all())
)
EXAMPLES = settings(derandomize=True, database=None, deadline=None, max_examples=60)


def noisy(pairs: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw gold from 0 to 5 in steps of 0.2 as SemEval has it, and scores around it."""
    random = np.random.default_rng(seed)
    gold = random.integers(26, size=pairs) / 5
    return gold + random.normal(scale=noise, size=pairs), gold


def test_golden_pearson() -> None:
    """Take deviations (−1, 0, 1) and (−1, 1, 0): 1 / (√2 · √2) = 0.5."""
    assert pearson(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == pytest.approx(0.5)


def test_golden_spearman_with_a_tie() -> None:
    """Take ranks (1, 2.5, 2.5, 4) and (1, 3, 2, 4).

    Deviations (−1.5, 0, 0, 1.5) and (−1.5, 0.5, −0.5, 1.5): 4.5 / √(4.5 · 5) = 0.94868.
    """
    scores, gold = np.array([0.1, 7.0, 7.0, 90.0]), np.array([0.0, 2.0, 1.0, 5.0])
    assert spearman(scores, gold) == pytest.approx(4.5 / np.sqrt(22.5))


def test_golden_mean_squared_error() -> None:
    """Expect (0.25 + 0.25 + 4) / 3 = 1.5."""
    scores, gold = np.array([0.5, 1.5, 1.0]), np.array([1.0, 1.0, 3.0])
    assert mean_squared_error(scores, gold) == pytest.approx(1.5)


@pytest.mark.thorough
@pytest.mark.parametrize("measure", CORRELATIONS)
@given(columns=PAIRS)
@EXAMPLES
def test_correlations_are_scipys(measure: str, columns: np.ndarray) -> None:
    assert CORRELATIONS[measure](*columns) == pytest.approx(
        SCIPY[measure](*columns).statistic, abs=1e-12
    )


def test_huge_and_tiny_scores_do_not_overflow() -> None:
    """Square 1e200, which is infinite, and 1e−200, which is zero; 1e9 + x loses no digit of x."""
    gold = np.array([1.0, 3.0, 2.0])
    for scale, offset in ((1e200, 0.0), (1e-200, 0.0), (1.0, 1e9)):
        scores = scale * np.array([1.0, 2.0, 3.0]) + offset
        assert pearson(scores, gold) == pytest.approx(0.5)


def test_single_precision_and_whole_numbers_are_taken_exactly() -> None:
    scores, gold = noisy(200, 1.0, seed=0)
    single = scores.astype(np.float32)
    labels = (gold > 2).astype(np.int64)
    assert pearson(single, gold) == pearson(single.astype(np.float64), gold)
    assert pearson(scores, labels) == pearson(scores, labels.astype(np.float64))
    assert mean_squared_error(single, gold) == mean_squared_error(single.astype(float), gold)


@pytest.mark.parametrize("measure", CORRELATIONS)
def test_equal_scores_or_gold_leave_a_correlation_undefined(measure: str) -> None:
    """Take 0.1, without exact mean in binary: equal values are recognized by comparison."""
    same, rising = np.full(7, 0.1), np.arange(7.0)
    with pytest.raises(ValueError, match=rf"{measure} is undefined: the scores of 7 .* all 0\.1"):
        CORRELATIONS[measure](same, rising)
    with pytest.raises(ValueError, match=r"gold of 7 pairs are all 0\.1; report it as missing"):
        CORRELATIONS[measure](rising, same)
    with pytest.raises(ValueError, match="the gold of 1 pairs are all 2"):
        CORRELATIONS[measure](np.array([1.0]), np.array([2.0]))
    assert mean_squared_error(same, same) == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_unpaired_missing_or_infinite_values_are_errors(measure: str) -> None:
    of = MEASURES[measure]
    with pytest.raises(ValueError, match="3 scores for 2 gold"):
        of(np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="0 scores for 0 gold"):
        of(np.zeros(0), np.zeros(0))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="scores of pair 1 are not finite: leave"):
            of(np.array([0.0, bad, 1.0]), np.arange(3.0))
        with pytest.raises(ValueError, match="gold of pair 2 are not finite"):
            resampled_measure(measure, np.eye(2, 3), np.array([1.0, 2.0, bad]), 5, 1)


@pytest.mark.parametrize("measure", MEASURES)
def test_bootstrap_is_a_loop_over_its_draws(measure: str) -> None:
    """Measure each draw afresh with scipy, ranks within the draw."""
    a, gold = noisy(40, 1.0, seed=1)
    b, _ = noisy(40, 2.0, seed=1)
    random = np.random.default_rng(9)
    loops: list[list[float]] = [[], []]
    for _ in range(81):
        drawn = random.integers(40, size=40)
        for scores, loop in zip((a, b), loops, strict=True):
            if measure == "mean_squared_error":
                loop.append(np.mean([(scores[i] - gold[i]) ** 2 for i in drawn]))
            else:
                loop.append(SCIPY[measure](scores[drawn], gold[drawn]).statistic)
    resampled = resampled_measure(measure, np.stack([a, b]), gold, 81, 9)
    np.testing.assert_allclose(resampled, loops, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("block", [1, 63 * 7])
def test_blocks_do_not_change_the_draws(
    measure: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bound memory by blocks; an odd number of pairs leaves no half-used random word."""
    scores, gold = noisy(63, 1.0, seed=0)
    whole = resampled_measure(measure, scores[None], gold, 51, 3)
    monkeypatch.setattr(correlations, "BLOCK", block)
    assert resampled_measure(measure, scores[None], gold, 51, 3).tolist() == whole.tolist()
    assert whole.shape == (1, 51)


@pytest.mark.thorough
def test_draws_without_a_correlation_are_marked() -> None:
    """Give one of six pairs gold 1: (5/6)⁶ = 33 % of draws miss it, 1/6⁶ have nothing else."""
    scores, gold = np.arange(6.0), np.eye(6)[5]
    random = np.random.default_rng(7)
    kept = []
    for _ in range(600):
        drawn = random.integers(6, size=6)
        if len(set(gold[drawn])) > 1:
            kept.append(scipy.stats.pearsonr(scores[drawn], gold[drawn]).statistic)
    (resampled,) = resampled_measure("pearson", scores[None], gold, 600, 7)
    undefined = np.isnan(resampled)
    assert undefined.sum() == 600 - len(kept)
    assert undefined.mean() == pytest.approx((5 / 6) ** 6, abs=0.06)
    assert resampled[~undefined] == pytest.approx(kept)
    assert np.isfinite(resampled_measure("mean_squared_error", scores[None], gold, 600, 7)).all()


def test_shapes_are_as_stated() -> None:
    scores, gold = noisy(30, 1.0, seed=0)
    for measure in MEASURES:
        checked(resampled_measure)(measure, np.stack([scores, gold]), gold, 9, 1)
        assert isinstance(checked(MEASURES[measure])(scores, gold), float)
    with pytest.raises(jaxtyping.TypeCheckError, match="gold"):
        checked(pearson)(scores[:9], gold)
