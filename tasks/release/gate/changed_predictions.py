"""The gate's queries whose first answer is right with one system and wrong with the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl


@dataclass(frozen=True)
class ChangedPrediction:
    """One query; `before` and `after` are the labels that opponent and challenger answer.

    `rows` says how often its title came in with the last bulk run, 0 if that is not known.
    """

    test: str
    raw_title: str
    occupation_label: str
    before: str
    after: str
    change: Literal["right to wrong", "wrong to right"]
    rows: int = 0


def changed_predictions(
    before: pl.DataFrame,
    after: pl.DataFrame,
    queries: pl.DataFrame,
    labels: Mapping[str, str],
    rows: Mapping[str, int],
) -> list[ChangedPrediction]:
    """List them in the order of the queries.

    `before`: schema `RUN`, of the opponent; `after`: schema `RUN`, of the challenger; `queries`:
    schema `QUERIES`; of several right occupations all labels are given.
    """
    key = ["test", "query_id"]
    first, second = (
        run.filter(rank=1).select(*key, pl.col("occupation_id").alias(name))
        for run, name in ((before, "before"), (after, "after"))
    )
    both = queries.join(first, on=key, maintain_order="left").join(
        second, on=key, maintain_order="left"
    )
    was, now = (
        pl.col("occupation_ids").list.contains(pl.col(name)) for name in ("before", "after")
    )
    changed = both.with_columns(right=now).filter(was != now)
    return [
        ChangedPrediction(
            test=row["test"],
            raw_title=row["raw_title"],
            occupation_label=" or ".join(labels[name] for name in row["occupation_ids"]),
            before=labels[row["before"]],
            after=labels[row["after"]],
            change="wrong to right" if row["right"] else "right to wrong",
            rows=rows.get(row["raw_title"], 0),
        )
        for row in changed.iter_rows(named=True)
    ]
