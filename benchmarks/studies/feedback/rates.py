"""What feedback mends and what it breaks: the strings people corrected, reworded, and held out."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np
import polars as pl

from benchmarks.query_figures import interval_row
from benchmarks.results import Row
from benchmarks.studies.feedback.reworded import reworded
from models.measures.intervals import bootstrap_interval
from models.repeatable.seeding import child_seed
from tasks.augment.superfluous import Superfluous
from tasks.files.schemas import QUERIES
from tasks.files.titles import with_readings

CORRECTED, REWORDED = "corrected", "reworded"
HELD_OUT = "annotations"
SAME = "same_occupations"


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


def held_out_rates(
    before: pl.DataFrame,
    after: pl.DataFrame,
    same_occupations: Container[str],
    draws: int,
    seed: int,
) -> Iterator[Row]:
    """Yield fix rate and side effects on held-out inputs; a rate of no query is left out.

    An input counts as wrong before if its success@1 was 0, and as right if it was 1; ties between
    right and wrong occupations give neither.
    """
    both = _on_held_out(before).join(
        _on_held_out(after), on="query_id", suffix="_after", maintain_order="left", validate="1:1"
    )
    was, now = both["success_at_1"].to_numpy(), both["success_at_1_after"].to_numpy()
    same = np.array([name in same_occupations for name in both["query_id"]], bool)
    for test, metric, values in (
        (f"{HELD_OUT}/{SAME}", "fix_rate", now[same & (was == 0)]),
        (HELD_OUT, "side_effects", 1 - now[was == 1]),
        (f"{HELD_OUT}/{SAME}", "side_effects", 1 - now[same & (was == 1)]),
    ):
        if values.size:
            draw = child_seed(seed, "feedback", test, metric)
            interval = bootstrap_interval(values, draws, draw)
            yield interval_row("", test, metric, interval, values.size)


def same_occupation_ids(queries: pl.DataFrame, corrected: pl.DataFrame) -> set[str]:
    """Return query ids of the held-out inputs with a gold occupation that people corrected to."""
    wanted = set(corrected["occupation_ids"].explode())
    held_out = queries.filter(pl.col("test") == HELD_OUT)
    rows = held_out.select("query_id", "occupation_ids").iter_rows()
    return {name for name, gold in rows if wanted & set(gold)}


def _on_held_out(scores: pl.DataFrame) -> pl.DataFrame:
    return scores.filter(pl.col("test") == HELD_OUT).select("query_id", "success_at_1")


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
