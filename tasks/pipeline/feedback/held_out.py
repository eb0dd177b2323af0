"""Titles with verdicts that nothing trains on, so that the gate can compare any two versions.

Titles that a review queue drew at random are held out: they measure accuracy without bias. So are
disputed titles, which two models answer differently. Training reads all other titles of a queue; of
titles from no queue the hash decides, for champion and challenger alike, in every later run.
"""

from __future__ import annotations

from collections.abc import Container

import polars as pl

from tasks.io.files import text_hash
from tasks.io.schemas import QUERIES
from tasks.pipeline.feedback.reader import DISPUTED, RANDOM

RANDOM_TITLES = "random_titles"  # the test of titles that a queue drew at random


def is_held_out(normalized: str, share: float) -> bool:
    """Tell whether a title is among the `share` of all titles that are held out."""
    return int(text_hash(normalized)[:13], 16) < share * 16**13  # 52 bits: exact as a float


def held_out(
    titles: pl.Series, verdicts: pl.DataFrame, share: float, trained: Container[str]
) -> pl.Series:
    """Tell of each normalized title whether it is held out; `share`: of titles from no queue.

    Titles of `trained` (normalized) are not: the mixes before feedback learn from them anyway.
    """
    is_kept = dict.fromkeys(verdicts.drop_nulls("chosen_by")["normalized"], False)
    is_kept |= dict.fromkeys(chosen_as(verdicts, DISPUTED, RANDOM), True)
    values = [t not in trained and is_kept.get(t, is_held_out(t, share)) for t in titles]
    return pl.Series("held_out", values, dtype=pl.Boolean)


def chosen_as(verdicts: pl.DataFrame, *ways: str) -> pl.Series:
    """Return the normalized titles that a queue chose in one of these ways."""
    marked = verdicts.filter(pl.col("chosen_by").is_in(ways))
    return marked["normalized"].unique(maintain_order=True)


def gate_queries(
    resolutions: pl.DataFrame, verdicts: pl.DataFrame, aliases: pl.DataFrame
) -> pl.DataFrame:
    """Return held-out titles (schema `RESOLUTIONS`) with a known occupation as schema `QUERIES`.

    Those that a queue drew at random or chose as disputed (`VERDICTS`) are tests of their own.
    """
    is_random, is_disputed = (
        pl.col("normalized").is_in(chosen_as(verdicts, way).implode()) for way in (RANDOM, DISPUTED)
    )
    known = resolutions.filter("held_out").drop_nulls("occupation_id")
    titles = known.unique("normalized", keep="first", maintain_order=True)
    sizes = aliases.group_by("occupation_id").agg(occupation_size=pl.len().cast(pl.UInt32))
    names = [f"feedback-{text_hash(title)}" for title in titles["normalized"]]
    drawn = pl.when(is_random).then(pl.lit(RANDOM_TITLES))
    disputed = pl.when(is_disputed).then(pl.lit(DISPUTED))
    queries = titles.join(sizes, on="occupation_id", how="left", maintain_order="left")
    return queries.with_columns(
        pl.Series("query_id", names, dtype=pl.String),
        occupation_ids=pl.concat_list("occupation_id"),
        # others are as labelled raw inputs
        test=pl.coalesce(drawn, disputed, pl.lit("annotations")),
        split=pl.lit("gate"),
        source=pl.lit("feedback"),
    ).select(list(QUERIES))
