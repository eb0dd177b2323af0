"""Expected calibration error: how far confidence lies from the share that is right.

Answers in bins of equal mass by confidence; the mean over bins of |mean confidence − share right|.
Chance alone makes this positive, so its expected excess is taken off: labels are drawn again around
each bin's share, and the mean rise of the error is the bias (Kumar, Liang and Ma 2019, whose code
does the same for absolute differences).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64

BINS = 15
DRAWS = 1000


def calibration_error(
    confidence: Float64[np.ndarray, " answer"], right: Bool[np.ndarray, " answer"], seed: int
) -> float:
    """Return the debiased error, from 0 up; with few answers it can fall a little below 0.

    Raises:
        ValueError: there are fewer answers than bins.
    """
    if len(confidence) < BINS:
        raise ValueError(f"{len(confidence)} answers for {BINS} bins; query more titles")
    order = np.argsort(confidence, kind="stable")
    bins = np.array_split(order, BINS)
    sizes = np.array([len(rows) for rows in bins])
    sure = np.array([confidence[rows].mean() for rows in bins])
    share = np.array([right[rows].mean() for rows in bins])
    weights = sizes / len(order)
    error = float(weights @ np.abs(sure - share))
    spread = np.sqrt(share * (1 - share) / sizes)
    drawn = np.random.default_rng(seed).normal(share, spread, (DRAWS, BINS))
    return 2 * error - float((np.abs(sure - drawn) @ weights).mean())
