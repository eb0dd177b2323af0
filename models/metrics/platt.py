"""A logistic curve through right and wrong answers, by the values they came with (Platt 1999)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


def fitted(
    values: Float64[np.ndarray, " answer"], right: Bool[np.ndarray, " answer"]
) -> tuple[float, float]:
    """Return a and b of σ(a + b·value), the likeliest chance that an answer is right.

    Right and wrong count as (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2), Platt's guard against few answers.
    Values that are all the same leave b at 0.
    """
    hits, misses = int(right.sum()), int((~right).sum())
    targets = np.where(right, (hits + 1) / (hits + 2), 1 / (misses + 2))
    middle, spread = values.mean(), values.std() or 1.0
    features = np.stack([np.ones(len(values)), (values - middle) / spread], axis=1)

    def cost(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = features @ weights
        chances = 1 / (1 + np.exp(-logits))
        total = np.logaddexp(0, logits).mean() - (targets * logits).mean()
        return float(total), features.T @ (chances - targets) / len(targets)

    offset, slope = minimize(cost, np.zeros(2), jac=True, method="BFGS").x
    return float(offset - slope * middle / spread), float(slope / spread)
