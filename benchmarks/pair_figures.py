"""Measures of networks on scored pairs, with 95 % intervals: of each seed, and pooled over seeds.

Pairs are drawn with replacement, the same for every network, so intervals of a difference are
paired (`tasks/papers/similarity/similarity_measures.py`). A pooled figure is the mean over the
seeds within each draw, so its interval covers other pairs but not other seeds, whose figures stand
beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.networks.pair_networks import strings
from benchmarks.results import Row
from models.metrics.correlations import Measure
from models.reproducibility.seeding import child_seed
from models.training.scored_pairs import ScoredPairs
from tasks.papers.similarity.similarity_measures import Measured, accuracy, averaged, measured

DRAWS = 1000


@dataclass(frozen=True)
class Figure:
    """A measure of a system's networks on the same `n` pairs, seed by seed and pooled."""

    seeds: list[Measured]
    pooled: Measured
    n: int

    def __sub__(self, other: Figure) -> Figure:
        """Return how much more it is than `other`, seed by seed; both on the same pairs."""
        pairs = zip(self.seeds, other.seeds, strict=True)
        return Figure([_less(*both) for both in pairs], _less(self.pooled, other.pooled), self.n)


Figures = dict[tuple[str, str], Figure]
"""By test and metric."""


def rows_of(system: str, figures: Figures, seeds: Iterable[int] = ()) -> Iterator[Row]:
    """Yield the row of each of `seeds`, then of all; without seeds that one alone."""
    known = list(seeds)
    for (test, metric), figure in figures.items():
        for seed, one in [*zip(known, figure.seeds, strict=False), (None, figure.pooled)]:
            yield Row(system, test, metric, one.value, figure.n, *one.ends, seed)


def compared(
    measure: Measure, answers: Sequence[Sequence[float]], gold: np.ndarray, name: str
) -> Figure:
    """Measure predictions of each seed against gold; equal names draw the same pairs."""
    draw = child_seed(0, "pairs", name)

    def figure(scores: np.ndarray) -> Measured:
        value = measured(measure, scores, gold, DRAWS, draw)
        if value is None:
            raise ValueError(
                f"{measure} on {name} is undefined: all predictions of a seed, or all gold, are "
                "equal"
            )
        return value

    return _by_seed(figure, np.array(answers), len(gold))


def separated(
    answers: Sequence[Sequence[float]], gold: np.ndarray, cuts: Sequence[float], name: str
) -> Figure:
    """Measure the share of pairs that each seed puts on the right side of its threshold."""
    draw, scores = child_seed(0, "pairs", name), np.array(answers)
    # a threshold beside each seed's scores, so that seeds can be taken one by one
    table = np.column_stack([scores, cuts])

    def figure(some: np.ndarray) -> Measured:
        return accuracy(some[:, :-1], gold, some[:, -1].tolist(), DRAWS, draw)

    return _by_seed(figure, table, len(gold))


def mean_over_sets(figures: Sequence[Figure]) -> Figure:
    """Return the mean of a measure over several sets, each of which counts once; n: all pairs."""
    by_seed = zip(*(figure.seeds for figure in figures), strict=True)
    pooled = averaged([figure.pooled for figure in figures])
    return Figure([averaged(sets) for sets in by_seed], pooled, sum(one.n for one in figures))


def word_overlap(pairs: ScoredPairs) -> list[float]:
    """Return Dice's coefficient of the two sets of words, 2·|A ∩ B| / (|A| + |B|), in [0, 1].

    The baseline that learns nothing. Words stand between spaces once the string is cleaned.
    """
    sides = ([set(text.split()) for text in texts] for texts in strings(pairs))
    return [
        2 * len(left & right) / max(1, len(left) + len(right))
        for left, right in zip(*sides, strict=True)
    ]


def _by_seed(figure: Callable[[np.ndarray], Measured], scores: np.ndarray, n: int) -> Figure:
    return Figure([figure(scores[[place]]) for place in range(len(scores))], figure(scores), n)


def _less(one: Measured, other: Measured) -> Measured:
    return Measured(one.by_seed - other.by_seed, one.resampled - other.resampled)
