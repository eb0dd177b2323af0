"""A table in either of the two general formats, and rows without identical ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tasks.readers.csv_rows import csv_header, csv_rows
from tasks.readers.parquet_rows import parquet_header, parquet_rows
from tasks.readers.records import AS_FOUND, Format
from tasks.readers.rejected import DUPLICATE_ROW, Ledger, Row

PARQUET = ".parquet"


def table_rows(
    path: Path,
    columns: Mapping[str, str],
    origin: str,
    ledger: Ledger,
    form: Format = AS_FOUND,
) -> Iterator[Row]:
    """Yield the rows of Parquet (`.parquet`) or of delimited text (any other name)."""
    if path.suffix == PARQUET:
        return parquet_rows(path, columns, origin, ledger)
    return csv_rows(path, columns, origin, ledger, form)


def table_header(path: Path, wanted: Iterable[str], origin: str) -> list[str]:
    """Return the column names of a table; none if it has no readable header."""
    if path.suffix == PARQUET:
        return parquet_header(path, origin)
    return csv_header(path, wanted, origin)


def distinct(rows: Iterable[Row], ledger: Ledger) -> Iterator[Row]:
    """Yield the first of identical records; the later ones are refused as `duplicate row`."""
    seen: set[str] = set()
    for row in rows:
        if row.text in seen:
            ledger.refuse(row, DUPLICATE_ROW)
        else:
            seen.add(row.text)
            yield row
