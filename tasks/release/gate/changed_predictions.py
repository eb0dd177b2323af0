"""The gate's queries whose first answer is right with one system and wrong with the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl


def changed_predictions(
    before: pl.DataFrame,
    after: pl.DataFrame,
    queries: pl.DataFrame,
    labels: Mapping[str, str],
    rows: Mapping[str, int],
) -> list[dict[str, Any]]:
    """List them in the order of the queries, with the labels of opponent and challenger.

    `before`: schema `RUN`, of the opponent; `after`: schema `RUN`, of the challenger; `queries`:
    schema `QUERIES`; of several right occupations all labels are given; `rows`: of a title in the
    last bulk run, 0 if it is missing.
    """
    key, both = ["test", "query_id"], queries
    for run, name in ((before, "before"), (after, "after")):
        first = run.filter(rank=1).select(*key, pl.col("occupation_id").alias(name))
        both = both.join(first, on=key, maintain_order="left")
    was, now = (
        pl.col("occupation_ids").list.contains(pl.col(name)) for name in ("before", "after")
    )
    changed = both.with_columns(right=now).filter(was != now)
    return [
        {
            "test": row["test"],
            "raw_title": row["raw_title"],
            "occupation_label": " or ".join(labels[name] for name in row["occupation_ids"]),
            "before": labels[row["before"]],
            "after": labels[row["after"]],
            "change": "wrong to right" if row["right"] else "right to wrong",
            "rows": rows.get(row["raw_title"], 0),
        }
        for row in changed.iter_rows(named=True)
    ]
