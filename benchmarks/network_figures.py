"""Figures of networks on queries, with 95 % intervals: of each seed, of all, and differences.

Values come as frames with `test`, `query_id` and a number a query; a network of several seeds has
one frame for each. A figure of all seeds is the mean over queries of a query's mean over seeds, and
its interval says what other queries would change, for these networks. Equal tests draw the same
queries for every system, as the pipeline does, so differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from benchmarks.results_file import Row
from models.intervals import Interval, bootstrap_interval, paired_interval
from models.seeding import child_seed
from tasks.params import AllParams

Seeds = Mapping[int, pl.DataFrame]
"""Seed of training to values by query."""


def figures(by_seed: Seeds, metrics: Mapping[str, str], params: AllParams) -> Iterator[Row]:
    """Means of each test: of each seed, then of all (`seed` None).

    Args:
        by_seed: the same queries for each seed.
        metrics: columns of the values, and what they are called in the rows. Queries where a
            column is null are left out of its mean.
        params: the draws of the bootstrap and their seed.
    """
    frames: list[tuple[int | None, pl.DataFrame]] = [*by_seed.items(), (None, pooled(by_seed))]
    for seed, values in frames:
        for test, group in _tests(values):
            for column, metric in metrics.items():
                known = group[column].drop_nulls()
                if len(known):
                    found = bootstrap_interval(known.to_numpy(), *_draws(params, test))
                    yield _row(test, metric, found, len(known), seed)


def gains(mine: Seeds, theirs: Seeds, metric: str, params: AllParams) -> Iterator[Row]:
    """Difference in success@1 on each of `mine`'s tests, over all seeds, paired by query.

    Raises:
        ValueError: `theirs` lacks a query of `mine`.
    """
    asked, keys = pooled(mine), ["test", "query_id"]
    both = asked.join(pooled(theirs), on=keys, suffix="_over", maintain_order="left")
    if len(both) < len(asked):
        raise ValueError(
            f"{len(asked)} queries, and only {len(both)} of them with an answer of the other "
            "system: ask both the same"
        )
    for test, group in _tests(both):
        pair = group["success_at_1"].to_numpy(), group["success_at_1_over"].to_numpy()
        found = paired_interval(*pair, *_draws(params, test))
        yield _row(test, metric, found, len(group), None)


def pooled(by_seed: Seeds) -> pl.DataFrame:
    """A query's mean over seeds of each column; null only where every seed has none."""
    columns = pl.exclude("test", "query_id").mean()
    frames = pl.concat(by_seed.values())
    return frames.group_by("test", "query_id", maintain_order=True).agg(columns)


def _tests(values: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (test,), group in values.group_by(["test"], maintain_order=True):
        yield str(test), group


def _draws(params: AllParams, test: str) -> tuple[int, int]:
    # an index is another system, not another test: `own_index/typos` draws as `typos`
    name = test.rpartition("/")[2]
    return params.evaluate.bootstrap_draws, child_seed(params.seed, "evaluate", name, "all")


def _row(test: str, metric: str, found: Interval, n: int, seed: int | None) -> Row:
    ends = {"value": found.value, "low": found.low, "high": found.high}
    return {"test": test, "metric": metric, **ends, "n": n, "seed": seed}
