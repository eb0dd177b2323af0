"""Figures of networks on queries, with 95 % intervals: of each seed, of all, and differences.

Values come as frames with `test`, `query_id` and a number a query, one for each seed. A figure of
all seeds is the mean over queries of a query's mean over seeds, where a query counts as often as it
has a value; its interval says what other queries would change. A difference of systems holds what
other seeds would change as well, and is paired by query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.results import Row
from models.metrics.intervals import (
    TAIL,
    Interval,
    bootstrap_interval,
    crossed_interval,
    paired_interval,
    resampled_means,
)
from models.reproducibility import child_seed
from tasks.check_params import AllParams

if TYPE_CHECKING:
    from jaxtyping import Float, Int

Seeds = Mapping[int, pl.DataFrame]  # seed of training to values by query
UNSEEDED = 0  # stands for the seed of a system that is not trained


def figures(
    system: str, by_seed: Seeds, metrics: Mapping[str, str], params: AllParams
) -> Iterator[Row]:
    """Yield the means of each test without nulls: of each seed, then of all (`seed` None)."""
    counts = _by_query(by_seed, pl.exclude("test", "query_id").count())
    frames = [*((*one, None) for one in by_seed.items()), (None, pooled(by_seed), counts)]
    for seed, values, counted in frames[UNSEEDED in by_seed :]:
        for test, group in _tests(values):
            for column, metric in metrics.items():
                known = group[column].is_not_null()
                if known.any():
                    own = None if counted is None else counted.filter(test=test)[column]
                    often = None if own is None else own.filter(known).to_numpy()
                    numbers = group[column].filter(known).to_numpy()
                    interval = _mean(numbers, often, *_draws(params, test))
                    ends = interval.low, interval.high
                    yield Row(system, test, metric, interval.value, len(numbers), *ends, seed)


def gains(
    system: str,
    mine: Seeds,
    theirs: Seeds,
    metric: str,
    params: AllParams,
    column: str = "success_at_1",
) -> Iterator[Row]:
    """Yield the difference in a column on each test, over all seeds, paired by query.

    Where either has several seeds, its interval holds what other seeds would change as well
    (`models/metrics/intervals.py`); networks of one seed are compared seed by seed.
    """
    for test, group in _tests(_paired(pooled(mine), pooled(theirs))):
        by_seed = _by_seed(mine, theirs, test, column)
        if by_seed is None or by_seed.shape[1] < 2:
            pair = group[column].to_numpy(), group[f"{column}_over"].to_numpy()
            interval = paired_interval(*pair, *_draws(params, test))
        else:
            interval = crossed_interval(by_seed)
        yield Row(system, test, metric, interval.value, len(group), interval.low, interval.high)


def pooled(by_seed: Seeds) -> pl.DataFrame:
    """Return a query's mean over seeds of each column; null only where every seed has none."""
    return _by_query(by_seed, pl.exclude("test", "query_id").mean())


def _by_query(by_seed: Seeds, columns: pl.Expr) -> pl.DataFrame:
    frames = pl.concat(by_seed.values())
    return frames.group_by("test", "query_id", maintain_order=True).agg(columns)


def _mean(
    values: Float[np.ndarray, " query"],
    counts: Int[np.ndarray, " query"] | None,
    draws: int,
    seed: int,
) -> Interval:
    """Return the mean over queries, of which each counts so often, and its 95 % interval."""
    if counts is None or (counts == counts[0]).all():
        return bootstrap_interval(values, draws, seed)
    sums, sizes = (resampled_means(one, draws, seed) for one in (values * counts, counts))
    low, high = np.quantile(sums / sizes, [TAIL, 1 - TAIL])
    return Interval(float(np.average(values, weights=counts)), float(low), float(high))


def _by_seed(
    mine: Seeds, theirs: Seeds, test: str, column: str
) -> Float[np.ndarray, "seed query"] | None:
    """Return the differences of each seed; None if there is one, or they are not the same."""
    seeds = list(mine if len(mine) >= len(theirs) else theirs)
    several = [own for own in (mine, theirs) if len(own) > 1]
    if not several or any(set(own) != set(seeds) for own in several):
        return None
    rows = []
    for seed in seeds:
        pair = [own[seed] if len(own) > 1 else next(iter(own.values())) for own in (mine, theirs)]
        both = _paired(*pair).filter(test=test).sort("query_id")
        rows.append((both[column] - both[f"{column}_over"]).cast(pl.Float64).to_numpy())
    known = len({len(row) for row in rows}) == 1 and all(np.isfinite(row).all() for row in rows)
    return np.stack(rows) if known else None


def _paired(mine: pl.DataFrame, theirs: pl.DataFrame) -> pl.DataFrame:
    """Put the other system's values of each query beside it, as columns `…_over`."""
    both = mine.join(theirs, on=["test", "query_id"], suffix="_over", maintain_order="left")
    if len(both) < len(mine):
        raise ValueError(
            f"{len(mine)} queries, and only {len(both)} of them with an answer of the other "
            "system: ask both the same"
        )
    return both


def _tests(values: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (test,), group in values.group_by(["test"], maintain_order=True):
        yield str(test), group


def _draws(params: AllParams, test: str) -> tuple[int, int]:
    # before a slash stands a setting, not another test: `odd/feedback` draws as `feedback`
    name = test.rpartition("/")[2]
    return params.evaluate.bootstrap_draws, child_seed(params.seed, "evaluate", name, "all")
