"""Tables, Parquet or delimited text, in chunks or row by row: the one way in which all are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tasks.tables.delimited import Delimited
from tasks.tables.parquet import parquet_chunks, parquet_header
from tasks.tables.records import AS_FOUND, Format
from tasks.tables.rejected import DUPLICATE_ROW, Chunk, RejectedRows, Row
from tasks.tables.source_files import SourceFile


def read_table(
    file: Path | SourceFile,
    columns: Mapping[str, str],
    origin: str,
    rejected: RejectedRows,
    form: Format = AS_FOUND,
) -> Iterator[Chunk]:
    """Yield a table, Parquet by its name or else delimited text with a header, in chunks.

    `columns` maps our name to the file's column; others are not read. `rejected` notes how the file
    was read; the caller refuses the rows with a fault, in their order among those that it refuses
    itself.

    Raises:
        IngestError: the file is missing, is no table, or lacks a column.
    """
    source = SourceFile.at(file, origin)
    if source.is_parquet:
        return parquet_chunks(source, columns, origin, rejected)
    return Delimited.open(source, columns.values(), origin, rejected, form).chunks(columns)


def read_rows(
    file: Path | SourceFile,
    columns: Mapping[str, str],
    origin: str,
    rejected: RejectedRows,
    form: Format = AS_FOUND,
) -> Iterator[Row]:
    """Yield the rows without a fault; `rejected` counts all and takes the others."""
    source = SourceFile.at(file, origin)
    for chunk in read_table(source, columns, origin, rejected, form):
        rejected.rows[source.name] += len(chunk.places)
        for row, fault in chunk.rows(source.name):
            if fault:
                rejected.refuse(row, fault)
            else:
                yield row


def read_header(
    file: Path | SourceFile, needed_columns: Iterable[str], origin: str, form: Format = AS_FOUND
) -> list[str]:
    """Return the column names of a table; none if unreadable.

    A delimiter is found by `needed_columns`.
    """
    source = SourceFile.at(file, origin)
    if source.is_parquet:
        return parquet_header(source)
    return Delimited.open(source, needed_columns, origin, RejectedRows(), form).names


def distinct(rows: Iterable[Row], rejected: RejectedRows) -> Iterator[Row]:
    """Yield the first of identical records; the later ones are refused as `duplicate row`."""
    texts: set[str] = set()
    for row in rows:
        if row.text in texts:
            rejected.refuse(row, DUPLICATE_ROW)
        else:
            texts.add(row.text)
            yield row
