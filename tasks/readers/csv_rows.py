"""A delimited file with a header to rows under our names; a bad record is refused with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tasks.readers.delimiters import NAMES, find_delimiter
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
from tasks.readers.text import physical_lines


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
    lines, form = _read(path, columns.values(), origin, ledger, form)
    split = records(lines, form)
    header = next(split, None)
    if header is None or not header[2]:
        raise IngestError(f"{path} has no header line. {origin}")
    names = [name.strip() for name in header[2]]
    require_columns(names, columns.values(), path, _cause(lines, columns.values(), form) + origin)
    position = {ours: names.index(theirs) for ours, theirs in columns.items()}
    for line, text, fields in split:
        ledger.rows[shown(path)] += 1
        row = Row(shown(path), line, text, {})
        reason = _fault(text, fields, len(names))
        if reason or fields is None:
            ledger.refuse(row, reason)
        else:
            values = {ours: fields[at] for ours, at in position.items()}
            yield Row(row.file, line, text, values)


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
    lines, form = _read(path, wanted, origin, Ledger(), form)
    first = next(records(lines, form), None)
    return [name.strip() for name in (first and first[2]) or []]


def note_delimiter(ledger: Ledger, path: Path, delimiter: str) -> None:
    """Add to what the ledger says of a file's encoding."""
    ledger.readings[shown(path)] += f", {NAMES.get(delimiter, repr(delimiter))} between fields"


def _read(
    path: Path, wanted: Iterable[str], origin: str, ledger: Ledger, form: Format
) -> tuple[list[str], Format]:
    """Return the lines and the format that holds, which the ledger is told."""
    lines = physical_lines(path, origin, ledger, form.encoding)
    delimiter = form.delimiter or find_delimiter(lines, set(wanted)).delimiter
    note_delimiter(ledger, path, delimiter)
    return lines, replace(form, delimiter=delimiter)


def _cause(lines: list[str], wanted: Iterable[str], form: Format) -> str:
    """Name another delimiter if the columns are there with it."""
    other = find_delimiter(lines, set(wanted))
    if other.delimiter == form.delimiter or not set(wanted) <= set(other.header):
        return ""
    return (
        f"It was read with {NAMES.get(form.delimiter, repr(form.delimiter))} between fields, but "
        f"has {NAMES[other.delimiter]}. "
    )


def _fault(text: str, fields: list[str] | None, width: int) -> str:
    if not is_text(text):
        return BAD_CHARACTERS
    if fields is None:
        return BAD_QUOTES
    if not any(field.strip() for field in fields):
        return EMPTY_ROW
    return "" if len(fields) == width else BAD_WIDTH
