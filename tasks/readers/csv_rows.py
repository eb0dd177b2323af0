"""A delimited file with a header to rows under our names; a bad record is refused with its line.

The file is read as the rows are asked for. What spreadsheets do to a table does not spoil it: a
first line ``sep=;``, empty fields behind the last column, and a record that stands in quotes as a
whole, because it was opened in one column.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from tasks.readers.delimiters import LINES, NAMES, declared_delimiter, find_delimiter, fit
from tasks.readers.encodings import is_text
from tasks.readers.outside import IngestError, require_columns, shown
from tasks.readers.records import AS_FOUND, Format, records
from tasks.readers.rejected import (
    BAD_CHARACTERS,
    BAD_QUOTES,
    BAD_WIDTH,
    EMPTY_ROW,
    Ledger,
    Row,
)
from tasks.readers.text import streamed_lines

Record = tuple[int, str, list[str], str]
"""Line, text, values in the order of the columns, and the fault, which has no values."""


def csv_rows(
    path: Path,
    columns: Mapping[str, str],
    origin: str,
    ledger: Ledger,
    form: Format = AS_FOUND,
) -> Iterator[Row]:
    """Yield the rows of a delimited file with a header, under our names.

    Args:
        path: the file.
        columns: our name -> the file's column; other columns are not read.
        origin: where the file comes from, for messages.
        ledger: counts records (the header is none), takes the refused ones, and is told how the
            file was read.
        form: delimiter, encoding and quoting.

    Raises:
        IngestError: the file is missing, empty, or lacks a column.
    """
    for line, text, values, fault in csv_records(path, columns, origin, ledger, form):
        ledger.rows[shown(path)] += 1
        row = Row(shown(path), line, text, dict(zip(columns, values, strict=False)))
        if fault:
            ledger.refuse(row, fault)
        else:
            yield row


def csv_records(
    path: Path, columns: Mapping[str, str], origin: str, ledger: Ledger, form: Format = AS_FOUND
) -> Iterator[Record]:
    """Yield all records, faulty ones too; the ledger is told how the file was read, and no more."""
    opened = _Opened.of(path, columns.values(), origin, ledger, form)
    split = records(opened.lines, opened.form, opened.first)
    header = next(split, None)
    if header is None or not header[2]:
        raise IngestError(f"{path} has no header line. {origin}")
    names = [name.strip() for name in header[2]]
    require_columns(names, columns.values(), path, opened.cause(columns.values()) + origin)
    places = [names.index(theirs) for theirs in columns.values()]
    needed = max((at for at, name in enumerate(names, start=1) if name), default=0)
    for line, text, fields in split:
        if fields and len(fields) != len(names) and opened.form.quoting == csv.QUOTE_MINIMAL:
            fields = _as_wide_as(fields, len(names), needed, opened.form)
        fault = _fault(text, fields, len(names))
        yield line, text, [] if fault or not fields else [fields[at] for at in places], fault


def csv_header(
    path: Path, wanted: Iterable[str], origin: str, form: Format = AS_FOUND
) -> list[str]:
    """Return the column names of a delimited file; none if it has no header.

    Args:
        path: the file.
        wanted: columns that it should have, by which a delimiter is found.
        origin: where the file comes from, for messages.
        form: delimiter, encoding and quoting.
    """
    opened = _Opened.of(path, wanted, origin, Ledger(), form)
    first = next(records(opened.lines, opened.form), None)
    return [name.strip() for name in (first and first[2]) or []]


def note_delimiter(ledger: Ledger, path: Path, delimiter: str) -> None:
    """Add to what the ledger says of a file's encoding."""
    ledger.readings[shown(path)] += f", {NAMES.get(delimiter, repr(delimiter))} between fields"


@dataclass(frozen=True)
class _Opened:
    """Lines from the header on, whose number is `first`, and the format that holds."""

    lines: Iterator[str]
    head: list[str]
    first: int
    form: Format

    @classmethod
    def of(
        cls, path: Path, wanted: Iterable[str], origin: str, ledger: Ledger, form: Format
    ) -> _Opened:
        lines = streamed_lines(path, origin, ledger, form.encoding)
        head, wanted = list(islice(lines, LINES)), set(wanted)
        declared = declared_delimiter(head[0]) if head else ""
        head = head[1:] if declared else head
        if not form.delimiter and declared and fit(head, declared).names(wanted):
            form = replace(form, delimiter=declared)
        delimiter = form.delimiter or find_delimiter(head, wanted).delimiter
        note_delimiter(ledger, path, delimiter)
        form = replace(form, delimiter=delimiter)
        return cls(chain(head, lines), head, 2 if declared else 1, form)

    def cause(self, wanted: Iterable[str]) -> str:
        """Name another delimiter if the columns are there with it."""
        other, ours = find_delimiter(self.head, set(wanted)), self.form.delimiter
        if other.delimiter == ours or not set(wanted) <= set(other.header):
            return ""
        return (
            f"It was read with {NAMES.get(ours, repr(ours))} between fields, but has "
            f"{NAMES[other.delimiter]}. "
        )


def _as_wide_as(fields: list[str], width: int, needed: int, form: Format) -> list[str]:
    """Mend a record's width where nothing is guessed: `needed` is without unnamed last columns."""
    if len(fields) == 1 < width and '"' in fields[0]:
        # opened in one column, a line that holds quotes is quoted as a whole when it is saved
        inner = list(csv.reader(fields, delimiter=form.delimiter))
        return inner[0] if len(inner) == 1 and len(inner[0]) == width else fields
    if len(fields) > width and not any(field.strip() for field in fields[width:]):
        return fields[:width]
    return fields + [""] * (width - len(fields)) if len(fields) >= needed else fields


def _fault(text: str, fields: list[str] | None, width: int) -> str:
    if not is_text(text):
        return BAD_CHARACTERS
    if fields is None:
        return BAD_QUOTES
    if not "".join(fields).strip():
        return EMPTY_ROW
    return "" if len(fields) == width else BAD_WIDTH
