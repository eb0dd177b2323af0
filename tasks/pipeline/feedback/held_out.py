"""Judged titles that nothing trains on, so that the gate can ask them of any two versions.

Whether a title is reserved depends on the hash of its normalized form alone: no seed, no other
title, no time. So it stays reserved in every later run, for champion and challenger alike, and the
gate's queries grow with people's feedback.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container

import polars as pl

from tasks.io.schemas import QUERIES

TEST, SOURCE = "annotations", "feedback"
"""Judged titles are raw inputs whose occupation people say, as those of this test are."""


def is_held_out(normalized: str, share: float) -> bool:
    """Tell whether a title is among the `share` of all titles that are reserved."""
    return int(_hash(normalized)[:13], 16) < share * 16**13  # 52 bits: exact as a float


def held_out(outcomes: pl.DataFrame, share: float, trained: Container[str]) -> pl.Series:
    """Say of each row of schema `OUTCOMES` whether its title is reserved.

    Titles of `trained` (normalized) are not: the mixes before feedback learn from them anyway.
    """
    values = [
        title not in trained and is_held_out(title, share) for title in outcomes["normalized"]
    ]
    return pl.Series("held_out", values, dtype=pl.Boolean)


def gate_queries(judged: pl.DataFrame, aliases: pl.DataFrame) -> pl.DataFrame:
    """Return the reserved titles whose right occupation is known as schema `QUERIES`.

    Args:
        judged: schema `JUDGED`.
        aliases: schema `SPLIT_ALIASES`; says how many titles an occupation has.
    """
    known = judged.filter("held_out").drop_nulls("occupation_id")
    titles = known.unique("normalized", keep="first", maintain_order=True)
    sizes = aliases.group_by("occupation_id").agg(occupation_size=pl.len().cast(pl.UInt32))
    names = [f"{SOURCE}-{_hash(title)[:16]}" for title in titles["normalized"]]
    return (
        titles.join(sizes, on="occupation_id", how="left", maintain_order="left")
        .with_columns(
            pl.Series("query_id", names, dtype=pl.String),
            occupation_ids=pl.concat_list("occupation_id"),
            test=pl.lit(TEST),
            split=pl.lit("gate"),
            source=pl.lit(SOURCE),
        )
        .select(list(QUERIES))
    )


def _hash(normalized: str) -> str:
    return hashlib.sha256(normalized.encode()).hexdigest()
