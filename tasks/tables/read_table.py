"""Tables of every kind in chunks or row by row: the one way in which all are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tasks.tables.delimited import AS_FOUND, Format, open_delimited
from tasks.tables.rejected import DUPLICATE_ROW, Chunk, RejectedRows, Row, Table
from tasks.tables.source_files import SourceFile
from tasks.tables.typed_tables import READERS


def open_table(
    file: Path | SourceFile,
    needed_columns: Iterable[str],
    origin: str,
    rejected: RejectedRows,
    form: Format = AS_FOUND,
) -> Table:
    """Open a table; the end of its name tells the reader, and delimited text is any other.

    Header and delimiter are found by `needed_columns`. `rejected` notes how it is read. The
    IngestError of a file that is missing, or no such table, ends with `origin`.
    """
    source = SourceFile.at(file, origin)
    reader = READERS.get(source.suffix, open_delimited)
    return reader(source, list(needed_columns), origin, rejected, form)


def read_table(
    file: Path | SourceFile,
    columns: Mapping[str, str],
    origin: str,
    rejected: RejectedRows,
    form: Format = AS_FOUND,
) -> Iterator[Chunk]:
    """Yield a table in chunks; the caller refuses the rows with a fault.

    `columns` maps our name to the file's column; others are not read. `rejected` notes how the file
    was read. IngestError if it is missing, is no table, or lacks a column.
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
    chunks = read_table(source, columns, origin, rejected, form)
    return rejected.take(row for chunk in chunks for row in chunk.rows(source.name))


def read_header(file: Path, needed_columns: Iterable[str], origin: str) -> list[str]:
    """Return the column names of a table, none without a header; errors as `open_table`."""
    return open_table(file, needed_columns, origin, RejectedRows()).names


def distinct(rows: Iterable[Row], rejected: RejectedRows) -> Iterator[Row]:
    """Yield the first of identical records; the later ones are refused as `duplicate row`."""
    texts: set[str] = set()
    for row in rows:
        if row.text in texts:
            rejected.refuse(row, DUPLICATE_ROW)
        else:
            texts.add(row.text)
            yield row
