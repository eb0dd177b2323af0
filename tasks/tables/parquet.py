"""Parquet in batches to chunks under our names: numbers as text, null as empty.

A row's line is its number from 1, its text its values as a CSV line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import polars as pl
import pyarrow as pa
from polars.exceptions import PolarsError
from pyarrow import parquet

from tasks.tables.rejected import BAD_CHARACTERS, CHUNK, EMPTY_ROW, Chunk, RejectedRows
from tasks.tables.source_files import IngestError, SourceFile, require_columns


def parquet_chunks(
    file: SourceFile, columns: Mapping[str, str], origin: str, rejected: RejectedRows
) -> Iterator[Chunk]:
    """Yield the rows of a Parquet file; `rejected` notes the format alone.

    Raises:
        IngestError: the file is no Parquet, lacks a column, or a column is no text (a list, a
        structure).
    """
    first, names = 1, list(columns)
    try:
        schema, _ = parquet_schema(file)
        require_columns(schema.names, columns.values(), file.path, origin)
        theirs = list(dict.fromkeys(columns.values()))
        empty = pl.DataFrame(schema.empty_table()).select(theirs)  # of a file without rows all
        for name, kind in empty.schema.items():
            if kind.is_nested() or kind == pl.Binary:
                raise IngestError(f"{file.path}: column {name!r} is {kind}, not text. {origin}")
        for frame in chain([empty], map(pl.DataFrame, parquet_batches(file, theirs))):
            rejected.readings[file.name] = "Parquet"
            values = frame.select(
                pl.col(column).cast(pl.String).fill_null("").alias(ours)
                for ours, column in columns.items()
            )
            lines = pl.int_range(first, first + len(values), dtype=pl.UInt32).alias("line")
            places = values.select(lines, _as_csv(names).alias("text"), _fault(names))
            yield Chunk(places, values)
            first += len(values)
    except (PolarsError, pa.ArrowException, OSError) as error:
        raise IngestError(f"{file.path} is no readable Parquet file ({error}). {origin}") from None


def parquet_batches(file: SourceFile, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, or all; ArrowException or OSError if it is no readable Parquet."""
    with file.open() as handle, parquet.ParquetFile(handle) as read:
        yield from read.iter_batches(CHUNK, columns=columns)


def parquet_schema(file: SourceFile) -> tuple[pa.Schema, int]:
    """Return the columns and the number of rows; errors as `parquet_batches`."""
    with file.open() as handle, parquet.ParquetFile(handle) as read:
        return read.schema_arrow.remove_metadata(), read.metadata.num_rows


def parquet_header(file: SourceFile) -> list[str]:
    """Return the column names; none where the file is no Parquet, which the rows will refuse."""
    try:
        return list(parquet_schema(file)[0].names)
    except (pa.ArrowException, OSError):
        return []


def _fault(names: list[str]) -> pl.Expr:
    """Name the fault of a row: a NUL in it, or nothing but white space."""
    nul = pl.any_horizontal(pl.col(names).str.contains("\x00", literal=True))
    some = pl.any_horizontal(pl.col(names).str.strip_chars() != "")
    fault = pl.when(nul).then(pl.lit(BAD_CHARACTERS)).when(~some).then(pl.lit(EMPTY_ROW))
    return fault.otherwise(None).alias("fault")


def _as_csv(names: list[str]) -> pl.Expr:
    """Write the values of a row as the csv module does."""
    quoted = (
        pl.when(pl.col(name).str.contains('[,"\r\n]'))
        .then('"' + pl.col(name).str.replace_all('"', '""', literal=True) + '"')
        .otherwise(pl.col(name))
        for name in names
    )
    return pl.concat_str(list(quoted), separator=",")
