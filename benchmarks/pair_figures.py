"""Measures of networks on scored pairs: of each seed, and pooled with a 95 % interval.

Pairs are drawn with replacement, the same for every network, so intervals of a difference are
paired (`tasks/papers/similarity/similarity_measures.py`). A pooled figure is the mean over the
seeds within each draw, so its interval covers other pairs but not other seeds, whose values stand
beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.networks.pair_networks import strings
from benchmarks.results import Row
from models.metrics.correlations import Measure
from models.reproducibility.seeding import child_seed
from models.training.scored_pairs import ScoredPairs
from tasks.papers.similarity.similarity_measures import Measured, accuracy, averaged, measured

DRAWS = 1000


class Figure(NamedTuple):
    """A measure of a system's networks on the same `n` pairs."""

    measured: Measured
    n: int


Figures = dict[tuple[str, str], Figure]
"""By test and metric."""


def rows_of(system: str, figures: Figures, seeds: Iterable[int] = ()) -> Iterator[Row]:
    """Yield the row of each of `seeds`, then of all; without seeds that one alone."""
    known = list(seeds)
    for (test, metric), (own, n) in figures.items():
        for seed, value in zip(known, own.by_seed.tolist(), strict=False):
            yield Row(system, test, metric, value, n, seed=seed)
        yield Row(system, test, metric, own.value, n, *own.ends)


def gains(mine: Figures, theirs: Figures) -> Figures:
    """Return how much more each figure is than that of another system on the same pairs."""
    return {
        (test, f"gain_{metric}"): Figure(
            Measured(*map(np.subtract, own.measured, theirs[test, metric].measured)), own.n
        )
        for (test, metric), own in mine.items()
    }


def compared(
    measure: Measure, answers: Sequence[Sequence[float]], gold: np.ndarray, name: str
) -> Figure:
    """Measure predictions of each seed against gold; equal names draw the same pairs."""
    draw = child_seed(0, "pairs", name)
    value = measured(measure, np.array(answers), gold, DRAWS, draw)
    if value is None:
        raise ValueError(
            f"{measure} on {name} is undefined: all predictions of a seed, or all gold, are equal"
        )
    return Figure(value, len(gold))


def separated(
    answers: Sequence[Sequence[float]], gold: np.ndarray, cuts: Sequence[float], name: str
) -> Figure:
    """Measure the share of pairs that each seed puts on the right side of its threshold."""
    draw = child_seed(0, "pairs", name)
    return Figure(accuracy(np.array(answers), gold, cuts, DRAWS, draw), len(gold))


def mean_over_sets(figures: Sequence[Figure]) -> Figure:
    """Return the mean of a measure over several sets, each of which counts once; n: all pairs."""
    return Figure(averaged([own.measured for own in figures]), sum(own.n for own in figures))


def word_overlap(pairs: ScoredPairs) -> list[float]:
    """Return Dice's coefficient of the two sets of words, 2·|A ∩ B| / (|A| + |B|), in [0, 1].

    The baseline that learns nothing. Words stand between spaces once the string is cleaned.
    """
    sides = ([set(text.split()) for text in texts] for texts in strings(pairs))
    return [
        2 * len(left & right) / max(1, len(left) + len(right))
        for left, right in zip(*sides, strict=True)
    ]
