"""Intervals of a mean over trainings and queries: what other seeds and other queries would change.

Every seed is asked every query, so the values are a table of seeds × queries with crossed random
effects (Brennan 2001, *Generalizability Theory*, chapter 3). With S seeds, Q queries and the mean
squares of seeds, queries and what is left, the variance of the mean is

    (MS_seed + MS_query − MS_left) / (S·Q),

here at least what either alone would give. The ends are Student's, with the degrees of freedom of
Satterthwaite 1946. From two seeds little is known of others, and the interval says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from models.metrics.intervals import TAIL, Interval

if TYPE_CHECKING:
    from jaxtyping import Float


def crossed_interval(values: Float[np.ndarray, "seed query"]) -> Interval:
    """Return the 95 % interval of the mean over seeds and queries.

    Raises:
        ValueError: there are less than two seeds or two queries, or a value is not finite.
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
    whole = squares[0] + squares[1] - squares[2]
    spread = max(whole, squares[0], squares[1])
    if spread <= 0:
        return Interval(mean, mean, mean)
    freedom = spread**2 / (squares**2 / free).sum()
    margin = float(stats.t.ppf(1 - TAIL, freedom) * np.sqrt(spread / (seeds * queries)))
    return Interval(mean, mean - margin, mean + margin)
