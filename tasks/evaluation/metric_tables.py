"""Means with intervals from values per query: the tidy table, with slices, of every evaluation.

In: frames of schemas `SCORES` and `QUERIES`. Out: schema `TABLE`, and the same of all queries as
nested figures. A query is in the slice `all` and in one slice of each kind:
`size:` (titles of its largest gold occupation), `length:` (characters) and `source:` (the queries'
column).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from models.metrics.intervals import bootstrap_interval
from models.reproducibility.atomic_write import atomic_write
from models.reproducibility.seeding import child_seed
from tasks.io.frames import Schema, check
from tasks.io.schemas import TABLE

METRICS = {
    "success_at_1": "success_at_1",
    "success_at_5": "success_at_5",
    "success_at_10": "success_at_10",
    "reciprocal_rank": "mrr",
}
"""Column of `SCORES` to the metric's name in `TABLE`."""
SIZES = ((1, "1"), (5, "2-5"), (15, "6-15"), (None, "16+"))
LENGTHS = ((15, "1-15"), (30, "16-30"), (None, "31+"))


def table(
    scores: pl.DataFrame,
    queries: pl.DataFrame,
    draws: int,
    seed: int,
    metrics: Mapping[str, str] = METRICS,
) -> pl.DataFrame:
    """Means with 95 % bootstrap intervals over queries: schema `TABLE`.

    Equal seeds draw the same queries for every system, so equal values have equal intervals.

    `scores`: schema `SCORES`; `queries`: schema `QUERIES`; gives the slices. Queries without scores
    are left out; `metrics`: columns of `scores`, and what they are called in the table.
    """
    sliced = scores.join(slices(queries), on=["test", "query_id"], maintain_order="left")
    rows = []
    for (system, test, split), group in sliced.explode("slices").group_by(
        ["system", "test", "slices"], maintain_order=True
    ):
        draw = child_seed(seed, "evaluate", str(test), str(split))
        for column, metric in metrics.items():
            interval = bootstrap_interval(group[column].to_numpy(), draws, draw)
            ends = (interval.value, interval.low, interval.high)
            rows.append((system, test, split, metric, *ends, len(group)))
    frame = pl.DataFrame(rows, schema=dict(TABLE), orient="row")
    return frame.with_columns(pl.col("value", "low", "high").round(6))


def nested(frame: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """`{system: {test: {metric: value}}}` of the slice `all`."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    rows = frame.filter(pl.col("slice") == "all").select("system", "test", "metric", "value")
    for system, test, metric, value in rows.iter_rows():
        result.setdefault(system, {}).setdefault(test, {})[metric] = value
    return result


def slices(queries: pl.DataFrame) -> pl.DataFrame:
    """`test, query_id, slices`: the slices of each query, `all` first."""
    return queries.with_columns(length=pl.col("cleaned").str.len_chars()).select(
        "test",
        "query_id",
        slices=pl.concat_list(
            pl.lit("all"),
            _band("occupation_size", "size", SIZES),
            _band("length", "length", LENGTHS),
            pl.format("source:{}", "source"),
        ),
    )


def write_table(frame: pl.DataFrame, path: Path, schema: Schema) -> None:
    """Check `frame` and write it as CSV, whole or not at all; a null is an empty cell."""
    with atomic_write(path) as partial:
        check(frame, schema, str(path)).write_csv(partial)


def read_table(path: Path, schema: Schema) -> pl.DataFrame:
    """Read what `write_table` wrote.

    Raises:
        FileNotFoundError: the stage that writes it has not run.
        SchemaError: it is not what `schema` says.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `dvc repro` for the stage that writes it")
    return check(pl.read_csv(path, schema_overrides=dict(schema)), schema, str(path))


def _band(column: str, name: str, bands: tuple[tuple[int | None, str], ...]) -> pl.Expr:
    expression = pl.lit(f"{name}:{bands[-1][1]}")
    for limit, label in reversed(bands[:-1]):
        expression = (
            pl.when(pl.col(column) <= limit).then(pl.lit(f"{name}:{label}")).otherwise(expression)
        )
    return expression
