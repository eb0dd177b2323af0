"""Intervals of means and shares: bootstrap over queries, Wilson's, and over seeds and queries.

Bootstrap: queries are drawn with replacement; the ends are percentiles of the resampled means
(Efron and Tibshirani 1993, chapter 13). `non_inferior` judges several tests at once (Holm 1979).
The gate has the intervals of `models/metrics/paired_tests.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int64

TAIL = 0.025  # each side of a 95 % interval
MARGIN = 0.01  # by which a system may be worse and still count as not inferior
BLOCK = 2_000_000  # drawn query indices held at once: 16 MiB
Z = 1.959964  # of the normal distribution's upper 2.5 %


@dataclass(frozen=True)
class Interval:
    """A mean over queries and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def bootstrap_interval(values: Float[np.ndarray, " query"], draws: int, seed: int) -> Interval:
    """Return the 95 % percentile interval of the mean; ValueError if empty or not finite."""
    low, high = np.quantile(resampled_means(values, draws, seed), [TAIL, 1 - TAIL])
    return Interval(float(np.mean(values)), float(low), float(high))


def paired_interval(
    a: Float[np.ndarray, " query"], b: Float[np.ndarray, " query"], draws: int, seed: int
) -> Interval:
    """Return the 95 % interval of mean(a − b), two systems on the same queries in the same order.

    ValueError if the lengths differ, there is no query, or a value is not finite.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values are not paired: give both the same queries")
    return bootstrap_interval(a - b, draws, seed)


def wilson_interval(right: int, n: int) -> Interval:
    """Return right / n with its interval, both ends within 0 and 1 (Wilson 1927).

    ValueError if `n` is below 1, or `right` is not from 0 to `n`.
    """
    if not 0 <= right <= n or n < 1:
        raise ValueError(f"{right} of {n} is no share")
    share, square = right / n, Z * Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0))


def crossed_interval(values: Float[np.ndarray, "seed query"]) -> Interval:
    """Return the 95 % interval of a mean over trainings and queries: for other seeds and queries.

    The values are a table of S seeds × Q queries with crossed random effects (Brennan 2001,
    *Generalizability Theory*, chapter 3). With the mean squares of seeds, queries and what is left,
    the variance of the mean is (MS_seed + MS_query − MS_left) / (S·Q), here at least what either
    alone would give. The ends are Student's, with the degrees of freedom of Satterthwaite 1946.
    ValueError if there are less than two seeds or two queries, or a value is not finite.
    """
    exact = np.asarray(values, np.float64)
    seeds, queries = exact.shape
    if min(seeds, queries) < 2 or not np.isfinite(exact).all():
        raise ValueError(f"{seeds} seeds, {queries} queries: two of each, and finite values")
    mean = float(exact.mean())
    by_seed, by_query = exact.mean(axis=1) - mean, exact.mean(axis=0) - mean
    left = exact - mean - by_seed[:, None] - by_query
    free = np.array([seeds - 1, queries - 1, (seeds - 1) * (queries - 1)])
    sums = np.array([queries * (by_seed**2).sum(), seeds * (by_query**2).sum(), (left**2).sum()])
    squares = sums / free
    spread = max(squares[0] + squares[1] - squares[2], squares[0], squares[1])
    if spread <= 0:
        return Interval(mean, mean, mean)
    freedom = spread**2 / (squares**2 / free).sum()
    margin = float(scipy.special.stdtrit(freedom, 1 - TAIL) * np.sqrt(spread / (seeds * queries)))
    return Interval(mean, mean - margin, mean + margin)


class NonInferiority(NamedTuple):
    """One test's part of the step-down."""

    value: float  # mean difference, challenger less champion
    low: float  # lower end of the one-sided interval at `level`
    p_value: float  # of the hypothesis that the true mean difference is −margin or less
    level: float  # the error that Holm gave this test, `TAIL` / (tests not yet passed)
    passed: bool  # whether `low` lies above −margin


def non_inferior(
    differences_by_test: Mapping[str, Float[np.ndarray, " query"]],
    margin: float,
    draws: int,
    seed: int,
) -> dict[str, NonInferiority]:
    """Judge the tests by Holm's step-down; H0 of each: its mean difference is −margin or less.

    A test's p-value is (1 + resampled means at or below −margin) / (draws + 1). From the smallest
    p-value on, test i of m (from 0) is held against `TAIL` / (m − i); the first that lies above it
    ends the walk, and all after it keep its level. The lower end is the resampled mean of rank
    level · (draws + 1), so a test passes exactly if its lower end lies above −margin. The chance
    that any test passes wrongly is `TAIL` or less (Holm holds under any dependence). With `margin`
    = 0 "passed" means better. ValueError if the draws are too few for the smallest level, or as
    `bootstrap_interval`.
    """
    smallest = TAIL / max(len(differences_by_test), 1)
    if smallest * (draws + 1) < 1:
        raise ValueError(f"{draws} draws cannot reach a level of {smallest:g}; use 1000 or more")
    by_test = differences_by_test.items()
    means = {test: np.sort(resampled_means(own, draws, seed)) for test, own in by_test}
    below = {test: int(np.searchsorted(own, -margin, "right")) for test, own in means.items()}
    results: dict[str, NonInferiority] = {}
    open_tests = len(means)
    for test in sorted(means, key=below.__getitem__):
        level = TAIL / open_tests
        low = float(means[test][int(level * (draws + 1)) - 1])
        passed = low > -margin
        open_tests -= passed
        value = float(np.mean(differences_by_test[test]))
        p_value = (1 + below[test]) / (draws + 1)
        results[test] = NonInferiority(value, low, p_value, level, passed)
    return {test: results[test] for test in differences_by_test}


def resampled_means(
    values: Float[np.ndarray, " query"], draws: int, seed: int
) -> Float64[np.ndarray, " draw"]:
    """Return the means of `draws` resamples; equal seeds and lengths draw the same queries.

    ValueError if there is no query, or a value is not finite.
    """
    exact = np.asarray(values, dtype=np.float64)
    if not len(exact) or not np.isfinite(exact).all():
        raise ValueError(f"{len(exact)} values, finite: {np.isfinite(exact).sum()}; give all")
    blocks = resamples(len(exact), draws, seed, BLOCK)
    return np.concatenate([exact[block].mean(axis=1) for block in blocks])


def resamples(
    count: int, draws: int, seed: int, at_once: int
) -> Iterator[Int64[np.ndarray, "draw query"]]:
    """Yield `draws` resamples of `count` queries in blocks of some `at_once` indices."""
    random = np.random.default_rng(seed)
    rows = max(at_once // count, 1)
    for start in range(0, draws, rows):
        yield random.integers(count, size=(min(rows, draws - start), count))
