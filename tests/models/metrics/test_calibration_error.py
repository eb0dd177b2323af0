"""Calibration error: by hand, near 0 where confidence is the chance, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from models.metrics.calibration_error import BINS, calibration_error


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
