"""Delimited text to rows, strictly: a bad record is refused with its line, the next one is read.

The csv module in strict mode judges; this file knows where each record starts, which is not where
it ends when a quoted field holds line breaks. After a fault only the record's first line is
refused and reading goes on with the next line, so a stray quote cannot swallow the rest.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypedDict

from tasks.readers.outside import IngestError, require_columns, shown
from tasks.readers.rejected import (
    BAD_CHARACTERS,
    BAD_QUOTES,
    BAD_WIDTH,
    EMPTY_ROW,
    Ledger,
    Row,
)
from tasks.readers.text import is_text, physical_lines


class Dialect(TypedDict):
    """How fields are told apart."""

    delimiter: str
    quoting: Literal[0, 3]  # csv.QUOTE_MINIMAL, csv.QUOTE_NONE


COMMAS = Dialect(delimiter=",", quoting=csv.QUOTE_MINIMAL)
TABS = Dialect(delimiter="\t", quoting=csv.QUOTE_MINIMAL)
BARE_TABS = Dialect(delimiter="\t", quoting=csv.QUOTE_NONE)  # a quote is a character like any other


class _Lines:
    """Physical lines that can be read again from any one on."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self.at >= len(self.lines):
            raise StopIteration
        self.at += 1
        return self.lines[self.at - 1]


def records(lines: list[str], dialect: Dialect) -> Iterator[tuple[int, str, list[str] | None]]:
    """Yield (line it starts on, text, fields) per record; fields are None where quotes are broken.

    A blank line has no fields: an empty list.
    """
    cursor = _Lines(lines)
    reader = csv.reader(cursor, strict=True, **dialect)
    while cursor.at < len(lines):
        start = cursor.at
        fields: list[str] | None
        try:
            fields = next(reader)
        except csv.Error:
            fields, cursor.at = None, start + 1
        yield start + 1, "".join(lines[start : cursor.at]).rstrip("\r\n"), fields


def csv_rows(
    path: Path,
    columns: Mapping[str, str],
    origin: str,
    ledger: Ledger,
    dialect: Dialect = COMMAS,
) -> Iterator[Row]:
    """Yield the rows of a delimited file with a header, under our names.

    Args:
        path: the file.
        columns: our name -> the file's column; other columns are not read.
        origin: where the file comes from, for messages.
        ledger: counts records (the header is none) and takes the refused ones.
        dialect: delimiter and quoting.

    Raises:
        IngestError: the file is missing, empty, or lacks a column.
    """
    lines = records(physical_lines(path, origin), dialect)
    header = next(lines, None)
    if header is None or not header[2]:
        raise IngestError(f"{path} has no header line. {origin}")
    names = [name.strip() for name in header[2]]
    require_columns(names, columns.values(), path, origin)
    position = {ours: names.index(theirs) for ours, theirs in columns.items()}
    for line, text, fields in lines:
        ledger.rows[shown(path)] += 1
        row = Row(shown(path), line, text, {})
        reason = _fault(text, fields, len(names))
        if reason or fields is None:
            ledger.refuse(row, reason)
        else:
            values = {ours: fields[at] for ours, at in position.items()}
            yield Row(row.file, line, text, values)


def _fault(text: str, fields: list[str] | None, width: int) -> str:
    if not is_text(text):
        return BAD_CHARACTERS
    if fields is None:
        return BAD_QUOTES
    if not any(field.strip() for field in fields):
        return EMPTY_ROW
    return "" if len(fields) == width else BAD_WIDTH
