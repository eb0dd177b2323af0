"""A table of any size as frames of some ten thousand rows, faulty records among them.

Columns: `line: UInt32`, `text: String` (the record), `fault: String` (why it has no values; null:
it has some), and the wanted columns under our names, all text and never null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import polars as pl

from tasks.readers.csv_rows import Record, csv_records
from tasks.readers.parquet_rows import parquet_chunks
from tasks.readers.rejected import CHUNK, Ledger, escaped
from tasks.readers.rows import PARQUET


def table_chunks(
    path: Path, columns: Mapping[str, str], origin: str, ledger: Ledger
) -> Iterator[pl.DataFrame]:
    """Yield a table, Parquet (`.parquet`) or delimited text (any other name), in chunks.

    Args:
        path: the file.
        columns: our name -> the file's column; other columns are not read.
        origin: where the file comes from, for messages.
        ledger: is told how the file was read, and nothing of its rows.

    Raises:
        IngestError: the file is missing, is no table, or lacks a column.
    """
    if path.suffix == PARQUET:
        yield from parquet_chunks(path, columns, origin, ledger)
        return
    records = csv_records(path, columns, origin, ledger)
    while chunk := list(islice(records, CHUNK)):
        yield _frame(chunk, list(columns))


def _frame(records: list[Record], names: list[str]) -> pl.DataFrame:
    lines, texts, values, faults = zip(*records, strict=True)
    nothing = [""] * len(names)
    by_column = zip(*(some or nothing for some in values), strict=True)
    pairs = zip(texts, faults, strict=True)
    return pl.DataFrame(
        [
            pl.Series("line", lines, pl.UInt32),
            pl.Series("text", [escaped(text) if bad else text for text, bad in pairs], pl.String),
            pl.Series("fault", [fault or None for fault in faults], pl.String),
            *(pl.Series(n, some, pl.String) for n, some in zip(names, by_column, strict=True)),
        ]
    )
