"""Parquet to rows under our names: numbers as text, null as empty, `line` = row number from 1.

The file is read in batches; a row's text is its wanted values as a CSV line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl
import pyarrow as pa
from polars.exceptions import PolarsError
from pyarrow import parquet

from tasks.readers.outside import IngestError, require_columns, require_file, shown
from tasks.readers.rejected import BAD_CHARACTERS, CHUNK, EMPTY_ROW, Ledger, Row


def parquet_rows(
    path: Path, columns: Mapping[str, str], origin: str, ledger: Ledger
) -> Iterator[Row]:
    """Yield the rows of a Parquet file.

    Raises:
        IngestError: the file is missing, is no Parquet, lacks a column, or holds one that is no
            text (a list, a structure).
    """
    for chunk in parquet_chunks(path, columns, origin, ledger):
        ledger.rows[shown(path)] += len(chunk)
        for line, text, fault, *values in chunk.iter_rows():
            row = Row(shown(path), line, text, dict(zip(columns, values, strict=True)))
            if fault:
                ledger.refuse(row, fault)
            else:
                yield row


def parquet_chunks(
    path: Path, columns: Mapping[str, str], origin: str, ledger: Ledger
) -> Iterator[pl.DataFrame]:
    """Yield frames as `tasks.readers.chunks` says; the ledger is told of the format alone.

    Raises:
        IngestError: as `parquet_rows`.
    """
    first = 1
    for batch in _batches(path, columns, origin):
        ledger.readings[shown(path)] = "Parquet"
        lines = pl.int_range(first, first + len(batch), dtype=pl.UInt32, eager=True)
        names = list(columns)
        about = lines.alias("line"), _as_csv(names).alias("text"), _fault(names).alias("fault")
        yield batch.select(*about, *names)
        first += len(batch)


def parquet_header(path: Path, origin: str) -> list[str]:
    """Return the column names; none where the file is no Parquet, which the rows will refuse.

    Raises:
        IngestError: the file is missing.
    """
    require_file(path, origin)
    try:
        return list(pl.read_parquet_schema(path))
    except PolarsError:
        return []


def _batches(path: Path, columns: Mapping[str, str], origin: str) -> Iterator[pl.DataFrame]:
    """Yield the wanted columns as text; of a file without rows one frame without rows."""
    require_file(path, origin)
    wanted = list(dict.fromkeys(columns.values()))
    try:
        schema = pl.read_parquet_schema(path)
        require_columns(schema, columns.values(), path, origin)
        _require_text(schema, wanted, path, origin)
        with parquet.ParquetFile(path) as file:
            yield _as_text(pl.DataFrame(schema=schema), columns)
            for batch in file.iter_batches(CHUNK, columns=wanted):
                yield _as_text(pl.DataFrame(batch), columns)
    except (PolarsError, pa.ArrowException, OSError) as error:
        raise IngestError(f"{path} is no readable Parquet file ({error}). {origin}") from None


def _require_text(
    schema: Mapping[str, pl.DataType], wanted: Iterable[str], path: Path, origin: str
) -> None:
    for name in wanted:
        if schema[name].is_nested() or schema[name] == pl.Binary:
            raise IngestError(f"{path}: column {name!r} is {schema[name]}, not text. {origin}")


def _as_text(frame: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    return frame.select(
        pl.col(theirs).cast(pl.String).fill_null("").alias(ours) for ours, theirs in columns.items()
    )


def _fault(names: list[str]) -> pl.Expr:
    """Name the fault of a row: a NUL in it, or nothing but white space."""
    nul = pl.any_horizontal(pl.col(names).str.contains("\x00", literal=True))
    some = pl.any_horizontal(pl.col(names).str.strip_chars() != "")
    return pl.when(nul).then(pl.lit(BAD_CHARACTERS)).when(~some).then(pl.lit(EMPTY_ROW))


def _as_csv(names: list[str]) -> pl.Expr:
    """Write the values of a row as the csv module does."""
    quoted = (
        pl.when(pl.col(name).str.contains('[,"\r\n]'))
        .then('"' + pl.col(name).str.replace_all('"', '""', literal=True) + '"')
        .otherwise(pl.col(name))
        for name in names
    )
    return pl.concat_str(list(quoted), separator=",")
