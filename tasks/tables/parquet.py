"""Parquet in batches to chunks under our names: numbers as text, null as empty.

A row's line is its number from 1, its text its values as a CSV line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa
from polars.exceptions import PolarsError
from pyarrow import parquet

from tasks.tables.cells import EXACT
from tasks.tables.packed import DAMAGED
from tasks.tables.rejected import BAD_CHARACTERS, CHUNK, EMPTY_ROW, Chunk, RejectedRows
from tasks.tables.source_files import IngestError, SourceFile, require_columns

UNREADABLE = (PolarsError, pa.ArrowException, *DAMAGED)


@dataclass(frozen=True)
class ParquetTable:
    """A file whose footer has been read."""

    file: SourceFile
    schema: pa.Schema
    origin: str
    notes: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, file: SourceFile, origin: str, rejected: RejectedRows) -> ParquetTable:
        """Read the footer; `rejected` notes the format. IngestError if it is no Parquet."""
        try:
            schema, _ = parquet_schema(file)
        except UNREADABLE as error:
            raise _unreadable(file, error, origin) from None
        rejected.readings[file.name] = "Parquet"
        return cls(file, schema, origin)

    @property
    def names(self) -> list[str]:
        """The columns, in their order."""
        return list(self.schema.names)

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Yield the rows, with columns by our names as text.

        Raises:
            IngestError: the file is damaged, lacks a column, or one is no text (a list, a
            structure).
        """
        first, names, file = 1, list(columns), self.file
        require_columns(self.names, columns.values(), file.path, self.origin)
        theirs = list(dict.fromkeys(columns.values()))
        kinds = pl.DataFrame(self.schema.empty_table().select(theirs)).schema
        for name, kind in kinds.items():
            if kind.is_nested() or kind == pl.Binary:
                raise IngestError(
                    f"{file.path}: column {name!r} is {kind}, not text. {self.origin}"
                )
        try:
            for frame in map(pl.DataFrame, parquet_batches(file, theirs)):
                values = frame.select(
                    _as_text(column, kinds[column]).alias(ours) for ours, column in columns.items()
                )
                lines = pl.int_range(first, first + len(values), dtype=pl.UInt32).alias("line")
                places = values.select(lines, _as_csv(names).alias("text"), _fault(names))
                yield Chunk(places, values)
                first += len(values)
        except UNREADABLE as error:
            raise _unreadable(file, error, self.origin) from None


def _unreadable(file: SourceFile, error: Exception, origin: str) -> IngestError:
    return IngestError(f"{file.path} is no readable Parquet file ({error}). {origin}")


def _as_text(column: str, kind: pl.DataType) -> pl.Expr:
    """Write a column as text, null empty and whole floats as `cell_text` does."""
    values = pl.col(column)
    text = values.cast(pl.String)
    if kind.is_float():
        whole = (values == values.floor()) & (values.abs() < EXACT)
        text = (
            pl.when(whole).then(values.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(text)
        )
    return text.fill_null("")


def parquet_batches(file: SourceFile, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, or all; ArrowException or OSError if it is no readable Parquet."""
    with file.open() as handle, parquet.ParquetFile(handle, pre_buffer=False) as read:
        first = 1
        for batch in read.iter_batches(CHUNK, columns=columns):  # `pre_buffer` keeps what was read
            _require_valid(batch, first)
            yield batch
            first += len(batch)


def _require_valid(batch: pa.RecordBatch, first: int) -> None:
    """Refuse text that is no UTF-8, which would crash whoever reads it."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            rows = f"rows {first:,} to {first + len(batch) - 1:,}"
            raise pa.ArrowInvalid(f"column {name!r}, {rows}: {error}") from None


def parquet_schema(file: SourceFile) -> tuple[pa.Schema, int]:
    """Return the columns and the number of rows; errors as `parquet_batches`."""
    with file.open() as handle, parquet.ParquetFile(handle) as read:
        return read.schema_arrow.remove_metadata(), read.metadata.num_rows


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
