"""Tables of every kind in chunks or row by row: the one way in which all are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from tasks.tables.delimited import Delimited
from tasks.tables.json_lines import JsonLines
from tasks.tables.parquet import ParquetTable
from tasks.tables.records import AS_FOUND, Format
from tasks.tables.rejected import DUPLICATE_ROW, Chunk, RejectedRows, Row
from tasks.tables.source_files import JSON_LINES, PARQUET, WORKBOOKS, SourceFile
from tasks.tables.workbook import Workbook


class Table(Protocol):
    """A table whose columns are known; `notes` tell what is unusual in it."""

    @property
    def names(self) -> list[str]:
        """The columns, in their order; none without a header."""

    @property
    def notes(self) -> list[str]:
        """Lines for a user: columns that were left out or named."""

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Yield the rows, once; `columns` maps our names to the table's."""


def open_table(
    file: Path | SourceFile,
    needed_columns: Iterable[str],
    origin: str,
    rejected: RejectedRows,
    form: Format = AS_FOUND,
) -> Table:
    """Open a table; the end of its name tells the kind, and delimited text is any other.

    Header and delimiter are found by `needed_columns`, which the table should have. `rejected`
    notes how it is read.

    Raises:
        IngestError: the file is missing, or is no such table.
    """
    source, needed_columns = SourceFile.at(file, origin), list(needed_columns)
    if source.suffix in PARQUET:
        return ParquetTable.open(source, origin, rejected)
    if source.suffix in JSON_LINES:
        return JsonLines.open(source, origin, rejected, form.encoding)
    if source.suffix in WORKBOOKS:
        return Workbook.open(source, needed_columns, origin, rejected)
    return Delimited.open(source, needed_columns, origin, rejected, form)


def read_table(
    file: Path | SourceFile,
    columns: Mapping[str, str],
    origin: str,
    rejected: RejectedRows,
    form: Format = AS_FOUND,
) -> Iterator[Chunk]:
    """Yield a table in chunks.

    `columns` maps our name to the file's column; others are not read. `rejected` notes how the file
    was read; the caller refuses the rows with a fault, in their order among those that it refuses
    itself.

    Raises:
        IngestError: the file is missing, is no table, or lacks a column.
    """
    return open_table(file, columns.values(), origin, rejected, form).chunks(columns)


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
    """Return the column names of a table, none without a header; errors as `open_table`."""
    source = SourceFile.at(file, origin)
    return open_table(source, needed_columns, origin, RejectedRows(), form).names


def distinct(rows: Iterable[Row], rejected: RejectedRows) -> Iterator[Row]:
    """Yield the first of identical records; the later ones are refused as `duplicate row`."""
    texts: set[str] = set()
    for row in rows:
        if row.text in texts:
            rejected.refuse(row, DUPLICATE_ROW)
        else:
            texts.add(row.text)
            yield row
