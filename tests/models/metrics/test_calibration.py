"""The logistic curve and the calibration error: found again, by hand, and of few answers."""

import numpy as np
import pytest

from models.metrics.calibration import BINS, calibration_error, fitted


def test_the_curve_is_found_again() -> None:
    """Of answers that are right with σ(−0.4 + 1.6·logit p), n = 40,000: within three errors."""
    rng = np.random.default_rng(5)
    shares = rng.random(40_000)
    chances = 1 / (1 + np.exp(0.4 - 1.6 * np.log(shares / (1 - shares))))
    offset, [slope] = fitted(np.log(shares / (1 - shares))[:, None], rng.random(40_000) < chances)
    assert (offset, slope) == (pytest.approx(-0.4, abs=0.05), pytest.approx(1.6, abs=0.06))


def test_answers_that_do_not_mix() -> None:
    """Wrong below 7 and right above: as steep as Platt's targets say, and no steeper."""
    values = np.repeat([6.0, 7.8], 50)
    offset, [slope] = fitted(values[:, None], values > 7)
    chances = 1 / (1 + np.exp(-(offset + slope * np.array([6.0, 7.8]))))
    assert chances == pytest.approx([1 / 52, 51 / 52], abs=1e-4)


def test_equal_values() -> None:
    offset, [slope] = fitted(np.full((8, 1), 3.0), np.arange(8) < 6)
    assert slope == pytest.approx(0, abs=1e-6)
    assert 1 / (1 + np.exp(-offset)) == pytest.approx((6 * 7 / 8 + 2 * 1 / 4) / 8, abs=1e-4)


def test_several_values_are_weighed_and_few_answers_keep_the_weights_small() -> None:
    """The second value tells all, the third nothing; answers that weigh nothing change nothing."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4000, 3))
    right = rng.random(4000) < 1 / (1 + np.exp(-2 * values[:, 1]))
    offset, slopes = fitted(values, right)
    assert [offset, *slopes] == pytest.approx([0, 0, 2, 0], abs=0.15)
    weights = (np.arange(4000) < 2000).astype(float)
    _, half = fitted(values, np.where(weights > 0, right, ~right), weights)
    assert half == pytest.approx(slopes, abs=0.25)
    _, few = fitted(values[:6], values[:6, 1] > 0)
    assert 0 < few[1] < 2


def test_certain_answers_by_hand() -> None:
    """All right in half of the bins, none in the others: no draw can differ, so nothing is off."""
    confidence = np.repeat(np.linspace(0.1, 0.8, BINS), 4)
    right = np.repeat(np.arange(BINS) >= 7, 4)
    by_hand = np.mean(np.abs(np.linspace(0.1, 0.8, BINS) - (np.arange(BINS) >= 7)))
    assert calibration_error(confidence, right, 1) == pytest.approx(by_hand)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_shift_is_found(shift: float) -> None:
    """Of the plain error of a calibrated model, 0.02 with n = 6,000, half is left."""
    rng = np.random.default_rng(3)
    confidence = 0.2 + 0.6 * rng.random(6_000)
    right = rng.random(6_000) < confidence + shift
    assert calibration_error(confidence, right, 1) == pytest.approx(shift, abs=0.016)


def test_too_few_answers_are_refused() -> None:
    with pytest.raises(ValueError, match="14 answers for 15 bins"):
        calibration_error(np.full(14, 0.5), np.full(14, True), 1)
