"""The strings that people corrected, as queries and in other words, and what an update breaks."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from benchmarks.query_figures import Seeds, interval_row, pooled
from benchmarks.results import Row
from benchmarks.studies.feedback.reworded import reworded
from models.measures.intervals import bootstrap_interval
from models.repeatable.seeding import child_seed
from tasks.augment.superfluous import Superfluous
from tasks.files.schemas import QUERIES
from tasks.files.titles import with_readings

CORRECTED, REWORDED = "corrected", "reworded"
HELD_OUT = "annotations"


def corrected_queries(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the corrected strings as schema `QUERIES`; gold is every corrected occupation."""
    gold = (
        verdicts.filter(~pl.col("right"))
        .drop_nulls("corrected_occupation_id")
        .group_by("raw_title", maintain_order=True)
        .agg(pl.col("corrected_occupation_id").unique().sort().alias("occupation_ids"))
    )
    return queries_of_titles(gold.with_columns(source=pl.lit("input")), CORRECTED)


def reworded_queries(
    corrected: pl.DataFrame, learned: Superfluous, typo_share: float, seen: set[str], seed: int
) -> pl.DataFrame:
    """Return rewordings of corrected strings as schema `QUERIES`, none of which was trained on."""
    rows = reworded(corrected["cleaned"].to_list(), learned, typo_share, seed)
    new = rows.filter(~pl.col("normalized").is_in(list(seen)))
    gold = new.join(
        corrected, left_on="title", right_on="cleaned", maintain_order="left", validate="m:1"
    )
    chosen = gold.select("occupation_ids", raw_title="variant", source="kind")
    return queries_of_titles(chosen, REWORDED)


def side_effects(system: str, before: Seeds, after: Seeds, draws: int, seed: int) -> Iterator[Row]:
    """Yield the share of held-out inputs answered wrong now of those that were answered right.

    Each seed's pairs count by themselves, and a query by its mean over the seeds in which it was
    right; one whose success@1 was neither 0 nor 1 (a tie) is in none.
    """
    broken = {number: _broken(before[number], after[number]) for number in after}
    values = pooled(broken)["broken"].drop_nulls().to_numpy()
    if values.size:
        draw = child_seed(seed, "feedback", HELD_OUT, "side_effects")
        interval = bootstrap_interval(values, draws, draw)
        yield interval_row(system, HELD_OUT, "side_effects", interval, values.size)


def _broken(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return `test, query_id, broken`; null where nothing was right that could be broken."""
    was = before.filter(test=HELD_OUT).select("query_id", was="success_at_1")
    both = after.filter(test=HELD_OUT).join(was, on="query_id", validate="1:1")
    now = pl.when(pl.col("was") == 1).then(1 - pl.col("success_at_1"))
    return both.select("test", "query_id", broken=now)


def queries_of_titles(rows: pl.DataFrame, test: str) -> pl.DataFrame:
    """Return the same with the other columns of `QUERIES`; no part has them."""
    return (
        with_readings(rows)
        .with_columns(
            query_id=pl.format("{}-{}", pl.lit(test), pl.int_range(pl.len())),
            test=pl.lit(test),
            part=pl.lit(""),
            occupation_size=pl.lit(0, pl.UInt32),
        )
        .select(list(QUERIES))
    )
