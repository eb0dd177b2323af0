"""Lines of delimited text to records, strictly, and no fault that spoils more than its record.

The csv module in strict mode judges; this file knows where each record starts, which is not where
it ends when a quoted field holds line breaks. After a fault only the record's first line is
refused and reading goes on with the next line, so a stray quote cannot swallow the rest.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Format:
    """How a delimited file is read; an empty delimiter or encoding is found in the file."""

    delimiter: str = ""
    encoding: str = ""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL


AS_FOUND = Format()
COMMAS = Format(",")
BARE_TABS = Format("\t", quoting=csv.QUOTE_NONE)  # a quote is a character like any other


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


def records(lines: list[str], form: Format) -> Iterator[tuple[int, str, list[str] | None]]:
    """Yield (line it starts on, text, fields) per record; fields are None where quotes are broken.

    A blank line has no fields: an empty list.
    """
    cursor = _Lines(lines)
    reader = csv.reader(cursor, strict=True, delimiter=form.delimiter, quoting=form.quoting)
    while cursor.at < len(lines):
        start = cursor.at
        fields: list[str] | None
        try:
            fields = next(reader)
        except csv.Error:
            fields, cursor.at = None, start + 1
        yield start + 1, "".join(lines[start : cursor.at]).rstrip("\r\n"), fields
