"""A table in either of the two general formats, and rows without identical ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tasks.readers.csv_rows import COMMAS, TABS, csv_rows
from tasks.readers.parquet_rows import parquet_rows
from tasks.readers.rejected import DUPLICATE_ROW, Ledger, Row


def table_rows(
    path: Path, columns: Mapping[str, str], origin: str, ledger: Ledger
) -> Iterator[Row]:
    """Yield the rows of Parquet (`.parquet`), tab-separated (`.tsv`) or comma-separated text."""
    if path.suffix == ".parquet":
        return parquet_rows(path, columns, origin, ledger)
    return csv_rows(path, columns, origin, ledger, TABS if path.suffix == ".tsv" else COMMAS)


def distinct(rows: Iterable[Row], ledger: Ledger) -> Iterator[Row]:
    """Yield the first of identical records; the later ones are refused as `duplicate row`."""
    seen: set[str] = set()
    for row in rows:
        if row.text in seen:
            ledger.refuse(row, DUPLICATE_ROW)
        else:
            seen.add(row.text)
            yield row
