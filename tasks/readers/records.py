"""Lines of delimited text to records, strictly, and no fault that spoils more than its record.

The csv module in strict mode judges; this file knows where each record starts, which is not where
it ends when a quoted field holds line breaks. After a fault only the record's first line is
refused and reading goes on with the next line, so a stray quote cannot swallow the rest.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
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
    """Physical lines, of which those since the last `start` can be read again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = iter(lines)
        self.record: list[str] = []
        self.again: deque[str] = deque()

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self.again.popleft() if self.again else next(self.lines)
        self.record.append(line)
        return line

    def start(self) -> None:
        """Forget the lines of the record before."""
        self.record = []

    def keep_first(self) -> None:
        """Let all lines of this record but its first be read again."""
        self.again.extendleft(reversed(self.record[1:]))
        del self.record[1:]


def records(
    lines: Iterable[str], form: Format, first: int = 1
) -> Iterator[tuple[int, str, list[str] | None]]:
    """Yield (line it starts on, text, fields) per record; fields are None where quotes are broken.

    A blank line has no fields: an empty list. Memory holds a record, or what the csv module reads
    of an unclosed quote: its limit of a field, 128 Ki characters.

    Args:
        lines: physical lines with their ends.
        form: delimiter and quoting.
        first: number of the first line.
    """
    cursor, at = _Lines(lines), first
    reader = csv.reader(cursor, strict=True, delimiter=form.delimiter, quoting=form.quoting)
    while True:
        cursor.start()
        fields: list[str] | None
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:
            fields = None
            cursor.keep_first()
        yield at, "".join(cursor.record).rstrip("\r\n"), fields
        at += len(cursor.record)
