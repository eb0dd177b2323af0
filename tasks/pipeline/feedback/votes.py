"""The voices on a raw title and an occupation, and what they decide: rules 5 to 7 of `verdicts.py`.

A claim says that an occupation is correct for a raw title, or that it is not. Frames of claims have
the columns `CLAIM, reviewer, weight, at, says`.
"""

from __future__ import annotations

import polars as pl

CLAIM = ["normalized", "occupation_id"]


def claims(rows: pl.DataFrame) -> pl.DataFrame:
    """Rule 5's sentences: `normalized, occupation_id, reviewer, weight, at, says`."""
    who_and_when = ("reviewer", "weight", "at")
    corrections = rows.drop_nulls("correction").with_columns(occupation_id="correction")
    return pl.concat(
        [
            rows.select(*CLAIM, *who_and_when, says="correct"),
            corrections.select(*CLAIM, *who_and_when, says=True),
        ]
    )


def decide(claims: pl.DataFrame) -> pl.DataFrame:
    """Rules 5 and 6, a row a claim: `normalized, occupation_id, pro, con, last_pro, decided`.

    `pro` and `con` are sums of weights.
    """
    voices = (
        claims.filter(pl.col("at") == pl.col("at").max().over("reviewer", *CLAIM))
        .group_by("reviewer", *CLAIM)
        .agg(pl.col("at", "says", "weight").first(), one=pl.col("says").n_unique() == 1)
        .filter("one")
    )
    sides = voices.group_by(CLAIM).agg(
        pro=pl.col("weight").filter("says").sum(),
        con=pl.col("weight").filter(~pl.col("says")).sum(),
        last_pro=pl.col("at").filter("says").max(),
        last_con=pl.col("at").filter(~pl.col("says")).max(),
    )
    return sides.with_columns(
        decided=pl.when(pl.col("pro") != pl.col("con"))
        .then(pl.col("pro") > pl.col("con"))
        .when(pl.col("last_pro") != pl.col("last_con"))
        .then(pl.col("last_pro") > pl.col("last_con"))
    )


def correct_ones(decided: pl.DataFrame) -> pl.DataFrame:
    """Rule 7: `normalized, correct`, for the raw titles that have one."""
    best = decided.filter("decided")
    for column in ("pro", "last_pro"):
        best = best.filter(pl.col(column) == pl.col(column).max().over("normalized"))
    alone = best.filter(pl.len().over("normalized") == 1)
    return alone.select("normalized", correct="occupation_id")


def disputed() -> pl.Expr:
    """Tell where reviewers differ, in the frame of `decide`."""
    return (pl.col("pro") > 0) & (pl.col("con") > 0)
