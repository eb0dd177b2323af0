"""Any table as cells that a person reads: lists and other structures become text.

A list is its members with `; ` between them, numbers in it with four decimals; a structure is JSON;
bytes are Base64. Numbers, truth values and text stay as they are.
"""

from __future__ import annotations

import json

import polars as pl
import pyarrow as pa

BETWEEN = "; "
NO_TEXT = (pl.Binary, pl.Duration)  # types that no cast makes text


def readable(table: pa.Table) -> pl.DataFrame:
    """Return the rows and columns of a table, without nested types."""
    return pl.DataFrame([_column(column) for column in pl.DataFrame(table)])


def _column(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.Array):
        return _column(column.cast(pl.List(kind.inner)))
    if isinstance(kind, pl.List) and not (kind.inner.is_nested() or kind.inner in NO_TEXT):
        members = pl.element().round(4) if kind.inner.is_float() else pl.element()
        return column.list.eval(members.cast(pl.String)).list.join(BETWEEN)
    if kind.is_nested():
        texts = [None if cell is None else _json(cell) for cell in column.to_list()]
        return pl.Series(column.name, texts, pl.String)
    if kind == pl.Duration:
        return column.dt.to_string("iso")
    if kind == pl.Binary:
        return column.bin.encode("base64")
    if kind in (pl.Categorical, pl.Enum, pl.Null):
        return column.cast(pl.String)
    return column


def _json(cell: object) -> str:
    return json.dumps(cell, ensure_ascii=False, default=str)
