"""Which inputs a mix may know, and what is known of each."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

import polars as pl

from tasks.io.mixes import CORRECTIONS, LAST, MIXES


class Known(NamedTuple):
    """Inputs by what is known of them: cleaned titles, and (title, occupation_id, count)."""

    bare: list[str]
    labelled: pl.DataFrame


def known_inputs(
    mix: str, inputs: pl.DataFrame, judged: pl.DataFrame, queries: Container[str]
) -> Known:
    """Return the inputs that a mix may know, each distinct title once, and none that is a query.

    `inputs` has schema `SPLIT_INPUTS`; `judged` schema `JUDGED`, empty for mixes without feedback;
    `queries` has the normalized strings of all queries.
    """
    if MIXES.index(mix) < MIXES.index(LAST):
        inputs, judged = inputs.clear(), judged.clear()
    confirmed = judged.filter(~pl.col("held_out")).drop_nulls("occupation_id")
    if mix != CORRECTIONS:
        confirmed = confirmed.filter(pl.col("resolution") == "correct")
    labelled = (
        confirmed.select(pl.col("cleaned").alias("title"), "occupation_id")
        .unique(maintain_order=True)
        .with_columns(count=pl.lit(1))
    )
    free = inputs.filter(pl.col("split").is_in(["train", "unlabelled"]) & (pl.col("cleaned") != ""))
    taken = {*judged.filter("held_out")["normalized"], *confirmed["normalized"]}
    names = free.unique("cleaned", maintain_order=True).select("cleaned", "normalized").rows()
    bare = [title for title, name in names if name not in queries and name not in taken]
    return Known(bare, labelled)
