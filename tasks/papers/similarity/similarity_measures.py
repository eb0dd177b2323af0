"""A system's measures on one test over several seeds, with what resampling the pairs gives.

Accuracy is that of saying "paraphrase" from a threshold on, which is chosen on other pairs. Equal
seeds draw the same pairs for every system and measure, so that two can be compared draw by draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.metrics.correlations import Measure, agreement, resampled_measure
from models.metrics.intervals import TAIL, resampled_means

if TYPE_CHECKING:
    from jaxtyping import Float


class Measured(NamedTuple):
    """One measure of one system on one test; the value is the mean over seeds."""

    by_seed: Float[np.ndarray, " seed"]
    resampled: Float[np.ndarray, " draw"]  # means over seeds; NaN where one of them has none

    @property
    def value(self) -> float:
        """Mean over seeds."""
        return float(self.by_seed.mean())

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Of the 95 % interval over pairs; it holds their chance, not that of training."""
        return ends(self.resampled)


def measured(
    measure: Measure,
    scores: Float[np.ndarray, "seed pair"],
    gold: Float[np.ndarray, " pair"],
    draws: int,
    seed: int,
) -> Measured | None:
    """Measure a correlation (None if all gold, or one seed's scores, are equal) or the error.

    ValueError if there is no pair, or a value is not finite.
    """
    if measure != "mean_squared_error" and not (np.ptp(gold) and np.ptp(scores, axis=1).all()):
        return None
    by_seed = np.array([agreement(measure, values, gold) for values in scores])
    return Measured(by_seed, resampled_measure(measure, scores, gold, draws, seed).mean(axis=0))


def accuracy(
    scores: Float[np.ndarray, "seed pair"],
    gold: Float[np.ndarray, " pair"],
    thresholds: Sequence[float],
    draws: int,
    seed: int,
) -> Measured:
    """Measure the share of pairs rightly said to be paraphrases or not (gold 1, else 0).

    Range 0 to 1, higher is better. Chance level: the share of the commoner answer.
    """
    hits = (scores >= np.array(thresholds)[:, None]) == (gold == 1)
    return Measured(hits.mean(axis=1), resampled_means(hits.mean(axis=0), draws, seed))


def best_threshold(scores: Float[np.ndarray, " pair"], gold: Float[np.ndarray, " pair"]) -> float:
    """Choose the score from which "paraphrase" is right most often; of equal ones the lowest.

    It lies half way between two scores, at the lowest one, or at infinity (none is).
    """
    distinct = np.unique(scores)
    cuts = np.concatenate([distinct[:1], (distinct[1:] + distinct[:-1]) / 2, [np.inf]])
    right = ((scores >= cuts[:, None]) == (gold == 1)).mean(axis=1)
    return float(cuts[right.argmax()])


def averaged(sets: Sequence[Measured]) -> Measured:
    """Average one measure over several tests, each of equal weight."""
    by_seed = np.mean([measure.by_seed for measure in sets], axis=0)
    return Measured(by_seed, np.mean([measure.resampled for measure in sets], axis=0))


def ends(resampled: Float[np.ndarray, " draw"]) -> tuple[float | None, float | None]:
    """Return the ends of the 95 % percentile interval; None if no draw has a value."""
    defined = resampled[~np.isnan(resampled)]
    if not len(defined):
        return None, None
    low, high = np.quantile(defined, [TAIL, 1 - TAIL])
    return float(low), float(high)
