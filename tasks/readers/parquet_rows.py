"""Parquet to rows under our names: numbers as text, null as empty, `line` = row number from 1."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from tasks.readers.encodings import is_text
from tasks.readers.outside import IngestError, read_bytes, require_columns, shown
from tasks.readers.rejected import BAD_CHARACTERS, EMPTY_ROW, Ledger, Row


def parquet_rows(
    path: Path, columns: Mapping[str, str], origin: str, ledger: Ledger
) -> Iterator[Row]:
    """Yield the rows of a Parquet file; a row's text is its wanted values as a CSV line.

    Raises:
        IngestError: the file is missing, is no Parquet, lacks a column, or holds one that is no
            text (a list, a structure).
    """
    frame = _frame(path, columns, origin)
    ledger.readings[shown(path)] = "Parquet"
    for line, values in enumerate(frame.iter_rows(named=True), start=1):
        ledger.rows[shown(path)] += 1
        row = Row(shown(path), line, _as_csv(values.values()), values)
        if not is_text(row.text):
            ledger.refuse(row, BAD_CHARACTERS)
        elif any(value.strip() for value in values.values()):
            yield row
        else:
            ledger.refuse(row, EMPTY_ROW)


def parquet_header(path: Path, origin: str) -> list[str]:
    """Return the column names; none where the file is no Parquet, which the rows will refuse.

    Raises:
        IngestError: the file is missing.
    """
    try:
        return list(pl.read_parquet_schema(io.BytesIO(read_bytes(path, origin))))
    except PolarsError:
        return []


def _frame(path: Path, columns: Mapping[str, str], origin: str) -> pl.DataFrame:
    data = read_bytes(path, origin)
    try:
        schema = pl.read_parquet_schema(io.BytesIO(data))
        require_columns(schema, columns.values(), path, origin)
        wanted = list(dict.fromkeys(columns.values()))
        frame = pl.read_parquet(io.BytesIO(data), columns=wanted)
    except PolarsError as error:
        raise IngestError(f"{path} is no readable Parquet file ({error}). {origin}") from None
    for name in wanted:
        if schema[name].is_nested() or schema[name] == pl.Binary:
            raise IngestError(f"{path}: column {name!r} is {schema[name]}, not text. {origin}")
    return frame.select(
        pl.col(theirs).cast(pl.String).fill_null("").alias(ours) for ours, theirs in columns.items()
    )


def _as_csv(values: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()
