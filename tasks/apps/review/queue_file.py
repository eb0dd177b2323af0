"""The queue as a CSV file that a spreadsheet opens, to be filled in and put into `feedback/`.

In: schema `QUEUE`. Out: the columns of `FEEDBACK`, those of the person empty, and behind them what
helps to decide. Every cell is quoted, and none is a formula (`tasks/io/formulas.py`); the reader of
feedback restores the text. UTF-8 with the byte order mark that Excel knows it by.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from models.reproducibility.atomic_write import atomic_write
from tasks.io.formulas import guarded
from tasks.io.schemas import FEEDBACK

BESIDE = ("occupation_label", "confidence", "rows", "chosen_by", "served", "why_queued")
SECOND = ("second_occupation_id", "second_label")


def write_queue(queue: pl.DataFrame, labels: Mapping[str, str], path: Path) -> None:
    """Write the queue, whole or not at all.

    `queue`: schema `QUEUE`.
    """
    place = pl.col("occupation_id").is_not_null().cast(pl.UInt32)  # without an answer the first
    second = pl.col("top_occupation_ids").list.get(place, null_on_oob=True)
    named = queue.with_columns(
        predicted_occupation_id="occupation_id", second_occupation_id=second
    ).with_columns(
        occupation_label=_label("predicted_occupation_id", labels),
        second_label=_label("second_occupation_id", labels),
        confidence=pl.col("confidence").round(3),
    )
    empty = [pl.lit(None, pl.String).alias(name) for name in FEEDBACK if name not in named.columns]
    frame = named.with_columns(empty).select(*FEEDBACK, *BESIDE, *SECOND)
    texts = [guarded(column) for column in frame if column.dtype == pl.String]
    with atomic_write(path) as partial:
        frame.with_columns(texts).write_csv(partial, include_bom=True, quote_style="always")


def _label(column: str, labels: Mapping[str, str]) -> pl.Expr:
    return pl.col(column).replace_strict(labels, default=None, return_dtype=pl.String)
