"""Means with intervals from values per query: the tidy table, with slices, of every evaluation.

A query is in the slice `all` and in one slice of each kind: `size:` (titles of its largest gold
occupation), `length:` (characters) and `source:` (the queries' column).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from math import inf
from pathlib import Path

import polars as pl

from models.metrics.intervals import bootstrap_interval
from models.reproducibility import atomic_write, child_seed
from tasks.io.files import written
from tasks.io.frames import Schema, check
from tasks.io.schemas import TABLE

# column of `SCORES` to the metric's name in `TABLE`
METRICS = {f"success_at_{k}": f"success_at_{k}" for k in (1, 5, 10)} | {"reciprocal_rank": "mrr"}
SIZES = {"size:1": 1, "size:2-5": 5, "size:6-15": 15, "size:16+": inf}  # and the largest in each
LENGTHS = {"length:1-15": 15, "length:16-30": 30, "length:31+": inf}


def table(
    scores: pl.DataFrame,
    queries: pl.DataFrame,
    draws: int,
    seed: int,
    metrics: Mapping[str, str] = METRICS,
) -> pl.DataFrame:
    """Return means with 95 % bootstrap intervals over queries that have scores: schema `TABLE`.

    Equal seeds draw the same queries for every system. `metrics`: columns of `scores`, with names.
    """
    sliced = scores.join(slices(queries), on=["test", "query_id"], maintain_order="left")
    rows = []
    for (system, test, split), group in sliced.explode("slices").group_by(
        ["system", "test", "slices"], maintain_order=True
    ):
        draw = child_seed(seed, "evaluate", str(test), str(split))
        for column, metric in metrics.items():
            interval = bootstrap_interval(group[column].to_numpy(), draws, draw)
            rows.append((system, test, split, metric, *astuple(interval), len(group)))
    return rounded(rows, TABLE)


def rounded(rows: Iterable[Sequence[object]], schema: Schema) -> pl.DataFrame:
    """Make a frame of rows, its fractions rounded to six decimals."""
    frame = pl.DataFrame(list(rows), schema=dict(schema), orient="row")
    return frame.with_columns(pl.selectors.float().round(6))


def nested(frame: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """`{system: {test: {metric: value}}}` of the slice `all`."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    rows = frame.filter(slice="all").select("system", "test", "metric", "value")
    for system, test, metric, value in rows.iter_rows():
        result.setdefault(system, {}).setdefault(test, {})[metric] = value
    return result


def slices(queries: pl.DataFrame) -> pl.DataFrame:
    """`test, query_id, slices`: the slices of each query, `all` first."""
    return queries.select(
        "test",
        "query_id",
        slices=pl.concat_list(
            pl.lit("all"),
            _band(pl.col("occupation_size"), SIZES),
            _band(pl.col("cleaned").str.len_chars(), LENGTHS),
            pl.format("source:{}", "source"),
        ),
    )


def write_table(frame: pl.DataFrame, path: Path, schema: Schema) -> None:
    """Check `frame` and write it as CSV, whole or not at all; a null is an empty cell."""
    with atomic_write(path) as partial:
        check(frame, schema, str(path)).write_csv(partial)


def read_table(path: Path, schema: Schema) -> pl.DataFrame:
    """Read what `write_table` wrote; FileNotFoundError or SchemaError if it did not."""
    frame = pl.read_csv(written(path), schema_overrides=dict(schema))
    return check(frame, schema, str(path))


def _band(value: pl.Expr, bands: Mapping[str, float]) -> pl.Expr:
    return pl.coalesce(pl.when(value <= top).then(pl.lit(name)) for name, top in bands.items())
