"""Confidence from right and wrong answers, and how far it lies from the share that is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64

RIDGE = 1.0  # half the squared weight of a standardized feature that is as unlikely as one answer
BINS, DRAWS = 15, 1000  # of the calibration error


def fitted(
    values: Float64[np.ndarray, "answer value"],
    right: Bool[np.ndarray, " answer"],
    weights: Float64[np.ndarray, " answer"] | None = None,
) -> tuple[float, Float64[np.ndarray, " value"]]:
    """Return a and b of σ(a + b·values), the likeliest chance that an answer is right (Platt 1999).

    Right and wrong count as (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2). Of several values a normal prior
    keeps the weights small; a single one is free. Values that are all the same leave b at 0.
    """
    hits, misses = int(right.sum()), int((~right).sum())
    targets = np.where(right, (hits + 1) / (hits + 2), 1 / (misses + 2))
    counted = np.ones(len(right)) if weights is None else weights
    middle, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    features = np.concatenate([np.ones((len(values), 1)), (values - middle) / spread], axis=1)
    ridge = np.array([0.0, 0.0, *[RIDGE] * (values.shape[1] - 1)]) / counted.sum()

    def cost(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        logits = features @ coefficients
        errors = counted * (1 / (1 + np.exp(-logits)) - targets) / counted.sum()
        total = counted @ (np.logaddexp(0, logits) - targets * logits) / counted.sum()
        slope = features.T @ errors + ridge * coefficients
        return float(total + ridge @ coefficients**2 / 2), slope

    offset, *slopes = minimize(cost, np.zeros(features.shape[1]), jac=True, method="BFGS").x
    scaled = np.array(slopes) / spread
    return float(offset - scaled @ middle), scaled


def calibration_error(
    confidence: Float64[np.ndarray, " answer"], right: Bool[np.ndarray, " answer"], seed: int
) -> float:
    """Return the expected calibration error, from 0 up; of few answers it can be a little below 0.

    Answers are in bins of equal mass by confidence; the error is the mean over bins of |mean
    confidence − share right|, less its expected excess by chance: labels are drawn again around
    each bin's share, and the mean rise of the error is the bias (Kumar, Liang and Ma 2019).
    ValueError if there are fewer answers than bins.
    """
    if len(confidence) < BINS:
        raise ValueError(f"{len(confidence)} answers for {BINS} bins; query more titles")
    bins = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    sizes = np.array([len(rows) for rows in bins])
    sure = np.array([confidence[rows].mean() for rows in bins])
    share = np.array([right[rows].mean() for rows in bins])
    weights = sizes / len(confidence)
    error = float(weights @ np.abs(sure - share))
    spread = np.sqrt(share * (1 - share) / sizes)
    drawn = np.random.default_rng(seed).normal(share, spread, (DRAWS, BINS))
    return 2 * error - float((np.abs(sure - drawn) @ weights).mean())
