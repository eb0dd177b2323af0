"""Scores against gold: Pearson's r, Spearman's ρ, mean squared error, and all of them resampled.

Bao et al. 2018 report r and MSE (equations 10 and 11; they print a sum, their figures are means),
Wieting et al. 2016 ρ for words and r for sentences.

- ``pearson``: r = Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² · Σ(y − ȳ)²), from −1 to 1; chance level 0;
- ``spearman``: ρ, which is r of the ranks; equal values share the mean of their ranks;
- ``mean_squared_error``: the mean of (score − gold)², *lower* is better. Bring both to one range
  first. Chance level: the variance of the gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy

from models.metrics.intervals import resamples

if TYPE_CHECKING:
    from jaxtyping import Float

BLOCK = 500_000  # drawn pair indices held at once: some 60 MiB with their ranks for two systems
Measure = Literal["pearson", "spearman", "mean_squared_error"]


def agreement(
    measure: Measure, scores: Float[np.ndarray, " pair"], gold: Float[np.ndarray, " pair"]
) -> float:
    """Return the measure of some pairs.

    ValueError if lengths differ, there is no pair, a value is not finite, or of a correlation all
    scores or all gold are equal.
    """
    scores, gold = _paired(scores, gold)
    value = float(MEASURES[measure](scores, gold))
    if np.isnan(value):
        name, same = ("gold", gold) if np.ptp(gold) == 0 else ("scores", scores)
        raise ValueError(
            f"{measure} is undefined: the {name} of {len(gold)} pairs are all {same[0]:g}; report "
            "it as missing, not as 0"
        )
    return value


def resampled_measure(
    measure: Measure,
    scores: Float[np.ndarray, "system pair"],
    gold: Float[np.ndarray, " pair"],
    draws: int,
    seed: int,
) -> Float[np.ndarray, "system draw"]:
    """Compute the measure in `draws` resamples, NaN where it is undefined.

    Pairs are drawn with replacement, and the measure is taken anew within each draw, ranks included
    (Efron and Tibshirani 1993, chapter 13). Every system meets the same draws, those of
    `models.metrics.intervals.resampled_means`. ValueError as of `agreement`, but for equal values.
    """
    scores, gold = _paired(scores, gold)
    blocks = resamples(len(gold), draws, seed, BLOCK)
    values = [MEASURES[measure](scores[:, drawn], gold[drawn]) for drawn in blocks]
    return np.concatenate([np.empty((len(scores), 0)), *values], axis=1)


def _paired(
    scores: Float[np.ndarray, "*system pair"], gold: Float[np.ndarray, " pair"]
) -> tuple[Float[np.ndarray, "*system pair"], Float[np.ndarray, " pair"]]:
    """Bring both to double precision, if there is a finite value of each for every pair."""
    if scores.shape[-1] != len(gold) or not len(gold):
        raise ValueError(f"{scores.shape[-1]} scores for {len(gold)} gold: give one for each pair")
    exact = np.asarray(scores, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    for name, values in zip(("scores", "gold"), exact, strict=True):
        if not np.isfinite(values).all():
            at = int(np.flatnonzero(~np.isfinite(values))[0]) % len(gold)
            raise ValueError(
                f"{name} of pair {at} are not finite: leave the pair out, for every system alike"
            )
    return exact


def _pearson(
    scores: Float[np.ndarray, "*system pair"], gold: Float[np.ndarray, "*draw pair"]
) -> Float[np.ndarray, " *system"]:
    cosine = (_directions(scores) * _directions(gold)).sum(axis=-1)
    return np.asarray(np.clip(cosine, -1.0, 1.0))


def _directions(values: Float[np.ndarray, "*draw pair"]) -> Float[np.ndarray, "*draw pair"]:
    """Return deviations from the mean as unit vectors; NaN where all values are equal.

    They are brought to 0–1 first: then equal values are found exactly, and no square overflows.
    """
    low = values.min(axis=-1, keepdims=True)
    spread = values.max(axis=-1, keepdims=True) - low
    unit: Float[np.ndarray, "*draw pair"] = (values - low) / np.where(spread > 0, spread, np.nan)
    unit -= unit.mean(axis=-1, keepdims=True)
    unit /= np.linalg.norm(unit, axis=-1, keepdims=True)
    return unit


MEASURES: Mapping[Measure, Callable[..., Float[np.ndarray, " *system"]]] = {
    "pearson": _pearson,
    "spearman": lambda *both: _pearson(*(scipy.stats.rankdata(own, axis=-1) for own in both)),
    "mean_squared_error": lambda scores, gold: ((scores - gold) ** 2).mean(axis=-1),
}
