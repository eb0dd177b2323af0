"""What feedback mends and what it breaks: the strings people corrected, reworded, and held out.

The *fix rate* is the share of queries answered right at rank 1 that people, or the labels, found
wrong before. It is asked of the corrected strings themselves (test `corrected`), of rewordings of
them (test `reworded`, the kind is the source), and of held-out inputs of the same occupations that
the model before answered wrong. *Side effects* are the share of held-out inputs that it answered
right and the new model does not.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.reworded import reworded
from models.intervals import Interval, bootstrap_interval
from models.seeding import child_seed
from models.titles import normalize_title
from tasks.schemas import QUERIES
from tasks.superfluous import Superfluous

CORRECTED, REWORDED = "corrected", "reworded"
HELD_OUT = "annotations"
SAME = "same_occupations"


class Rate(NamedTuple):
    """One share with its 95 % interval, of `n` queries."""

    test: str
    metric: str
    interval: Interval
    n: int


def corrected_queries(verdicts: pl.DataFrame) -> pl.DataFrame:
    """The distinct corrected strings as schema `QUERIES`; gold is every corrected occupation."""
    gold = (
        verdicts.filter(~pl.col("right"))
        .drop_nulls("corrected_occupation_id")
        .group_by("raw_title", maintain_order=True)
        .agg(pl.col("corrected_occupation_id").unique().sort().alias("occupation_ids"))
    )
    return _queries(gold.with_columns(source=pl.lit("input")), CORRECTED)


def reworded_queries(
    corrected: pl.DataFrame,
    learned: Superfluous,
    typo_share: float,
    seen: Container[str],
    seed: int,
) -> pl.DataFrame:
    """Rewordings of corrected strings as schema `QUERIES`, none of which was trained on.

    Args:
        corrected: of `corrected_queries`.
        learned: superfluous words.
        typo_share: of the characters.
        seen: normalized training strings.
        seed: the pipeline's seed.
    """
    rows = reworded(corrected["raw_title"].to_list(), learned, typo_share, seed)
    new = rows.filter(
        pl.Series([normalize_title(v) not in seen for v in rows["variant"]], dtype=pl.Boolean)
    )
    gold = new.join(
        corrected, left_on="title", right_on="raw_title", maintain_order="left", validate="m:1"
    )
    chosen = gold.select(pl.col("variant").alias("raw_title"), "occupation_ids", source="kind")
    return _queries(chosen, REWORDED)


def held_out_rates(
    before: pl.DataFrame,
    after: pl.DataFrame,
    same_occupations: Container[str],
    draws: int,
    seed: int,
) -> Iterator[Rate]:
    """Fix rate and side effects on held-out inputs; a rate of no query is left out.

    An input counts as wrong before if its success@1 was 0, and as right if it was 1; ties between
    right and wrong occupations give neither.

    Args:
        before: schema `SCORES`, of the model before.
        after: the same of the new model, on the same queries.
        same_occupations: query ids of the held-out inputs whose occupations have corrections.
        draws: of the bootstrap.
        seed: the pipeline's seed.
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
            yield Rate(test, metric, bootstrap_interval(values, draws, draw), values.size)


def same_occupation_ids(queries: pl.DataFrame, corrected: pl.DataFrame) -> set[str]:
    """Query ids of the held-out inputs with a gold occupation that people corrected to."""
    wanted = set(corrected["occupation_ids"].explode())
    held_out = queries.filter(pl.col("test") == HELD_OUT)
    rows = held_out.select("query_id", "occupation_ids").iter_rows()
    return {name for name, gold in rows if wanted & set(gold)}


def _on_held_out(scores: pl.DataFrame) -> pl.DataFrame:
    return scores.filter(pl.col("test") == HELD_OUT).select("query_id", "success_at_1")


def _queries(rows: pl.DataFrame, test: str) -> pl.DataFrame:
    """`raw_title, occupation_ids, source` with the other columns of `QUERIES`; no part has them."""
    return rows.with_columns(
        query_id=pl.format("{}-{}", pl.lit(test), pl.int_range(pl.len())),
        test=pl.lit(test),
        part=pl.lit(""),
        occupation_size=pl.lit(0, pl.UInt32),
    ).select(list(QUERIES))
