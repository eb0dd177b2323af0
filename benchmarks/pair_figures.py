"""Measures of networks on scored pairs, with 95 % intervals: of each seed, and pooled over seeds.

Pairs are drawn with replacement, the same for every network: intervals of a difference are paired.
A pooled figure is the mean over the seeds, taken anew within each draw. So its interval says what
other pairs would change, for these networks; what other seeds would change is seen from the figures
of the seeds, which stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.results_file import Row
from benchmarks.scored_sets import StringPairs
from models.correlations import MEASURES, Measure, resampled_measure
from models.intervals import TAIL, resampled_means
from models.seeding import child_seed
from models.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

DRAWS = 1000


@dataclass(frozen=True)
class Resampled:
    """A measure of the networks of several seeds on the same pairs.

    Attributes:
        values: on all pairs.
        draws: on the resamples; NaN where it is undefined.
        n: pairs.
    """

    values: Float[np.ndarray, " seed"]
    draws: Float[np.ndarray, "seed draw"]
    n: int

    def __sub__(self, other: Resampled) -> Resampled:
        """How much more it is than `other`, seed by seed; both on the same pairs."""
        return Resampled(self.values - other.values, self.draws - other.draws, self.n)

    def rows(self, metric: str, seeds: Sequence[int | None]) -> Iterator[Row]:
        """The figure of each seed, then of all: `seed` None.

        A system without a seed gives `seeds` = [None] and has the pooled row alone.
        """
        for place, seed in enumerate(seeds):
            if seed is not None:
                yield self._row(metric, self.values[[place]], self.draws[[place]], seed)
        yield self._row(metric, self.values, self.draws, None)

    def _row(self, metric: str, values: np.ndarray, draws: np.ndarray, seed: int | None) -> Row:
        means = draws.mean(axis=0)
        low, high = np.quantile(means[~np.isnan(means)], [TAIL, 1 - TAIL])
        ends = {"value": float(values.mean()), "low": float(low), "high": float(high)}
        return {"metric": metric, **ends, "n": self.n, "seed": seed}


def compared(
    measure: Measure, answers: Sequence[Sequence[float]], gold: Sequence[float], name: str
) -> Resampled:
    """Predictions of each seed against gold; equal names and numbers of pairs draw the same ones.

    Raises:
        ValueError: a seed's predictions or all gold are equal: a correlation is undefined.
    """
    scores, right = np.array(answers), np.array(gold)
    values = MEASURES[measure](scores, right)
    if np.isnan(values).any():
        raise ValueError(
            f"{measure} on {name} is undefined: all predictions of a seed, or all gold, are equal"
        )
    draws = resampled_measure(measure, scores, right, DRAWS, child_seed(0, "pairs", name))
    return Resampled(values, draws, len(right))


def share(hits: Bool[np.ndarray, "seed pair"], name: str) -> Resampled:
    """Share of pairs that each seed has right."""
    draw = child_seed(0, "pairs", name)
    draws = [resampled_means(each.astype(float), DRAWS, draw) for each in hits]
    return Resampled(hits.mean(axis=1), np.array(draws), hits.shape[1])


def mean_over_sets(found: Sequence[Resampled]) -> Resampled:
    """Mean of a measure over several sets of pairs, each of which counts once; n: all pairs."""
    return Resampled(
        np.mean([each.values for each in found], axis=0),
        np.mean([each.draws for each in found], axis=0),
        sum(each.n for each in found),
    )


def word_overlap(pairs: StringPairs) -> list[float]:
    """Dice's coefficient of the two sets of words, 2·|A ∩ B| / (|A| + |B|), in [0, 1].

    The baseline that learns nothing. Words stand between spaces once the string is cleaned.
    """
    sets = ([set(clean_title(text).split()) for text in texts] for texts in pairs[:2])
    return [
        2 * len(left & right) / max(1, len(left) + len(right))
        for left, right in zip(*sets, strict=True)
    ]
