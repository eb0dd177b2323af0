"""Lines of delimited text to records, strictly; a fault spoils only its record.

The csv module judges in strict mode; this module knows where each record starts, which is not where
it ends if a quoted field holds line breaks. After a fault only the record's first line is refused
and reading goes on with the next line, so a stray quote cannot swallow the rest. Two stray quotes
are taken for a fault where each line between them is a whole row.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Format:
    """How a delimited file is read; an empty delimiter or encoding is found in the file.

    `backslash`: a quote within quotes has a backslash before it, in place of a second quote.
    """

    delimiter: str = ""
    encoding: str = ""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    backslash: bool = False


AS_FOUND = Format()
BARE_TABS = Format("\t", quoting=csv.QUOTE_NONE)  # a quote is a character like any other
BACKSLASH = '\\"'
ESCAPED = re.compile(r'(?<!\\)((?:\\\\)*)\\"')  # behind no backslash, or an even number of them


class Record(NamedTuple):
    """A record: the line it starts on, its text, and its fields.

    A blank line has no fields, an empty list; where quotes are broken they are None.
    """

    line: int
    text: str
    fields: list[str] | None


class Records(Iterator[Record]):
    """The records of a text, one by one.

    Memory holds a record, or what the csv module reads of an unclosed quote: its limit of a field,
    128 Ki characters.
    """

    def __init__(self, lines: Iterable[str], form: Format, first: int = 1) -> None:
        """Begin with physical lines, which keep their ends; `first` is the number of the first.

        `width` may be set to the number of columns, once it is known.
        """
        self.width = 0
        self.form = form
        self._at = first
        self._lines = _Lines(lines)
        self._reader = self._csv(self._lines)

    def __next__(self) -> Record:
        """Read one record, and no line behind it."""
        start, self._lines.record = self._at, []
        fields: list[str] | None
        try:
            fields = next(self._reader)
        except csv.Error:
            fields = None
        lines = self._lines.record
        if fields is None or (len(lines) > 1 and self._holds_rows(lines, fields)):
            fields = None
            self._lines.keep_first()
        self._at += len(self._lines.record)
        return Record(start, "".join(self._lines.record).rstrip("\r\n"), fields)

    def _holds_rows(self, lines: list[str], fields: list[str]) -> bool:
        """Tell whether each of several lines of a record is itself a row: one field goes over all.

        Of two columns, whose lines often have a comma, each has to begin with a number as well.
        """
        delimiter = self.form.delimiter
        if self.width < 2 or any(line.count(delimiter) != self.width - 1 for line in lines):
            return False
        broken = ["\n" in field or "\r" in field for field in fields]
        others = [field for field, breaks in zip(fields, broken, strict=True) if not breaks]
        numbered = all(line.split(delimiter)[0].isdecimal() for line in lines)
        return (
            sum(broken) == 1
            and not any(delimiter in field for field in others)
            and (self.width > 2 or numbered)
        )

    def _csv(self, lines: Iterable[str]) -> Iterator[list[str]]:
        form = self.form
        if form.backslash:
            lines = (ESCAPED.sub(r'\1""', line) for line in lines)
        return csv.reader(lines, strict=True, delimiter=form.delimiter, quoting=form.quoting)


class _Lines(Iterator[str]):
    """Physical lines, of which those of the last `record` can be read again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = iter(lines)
        self.record: list[str] = []
        self.again: deque[str] = deque()

    def __next__(self) -> str:
        line = self.again.popleft() if self.again else next(self.lines)
        self.record.append(line)
        return line

    def keep_first(self) -> None:
        """Let all lines of this record but its first be read again."""
        self.again.extendleft(reversed(self.record[1:]))
        del self.record[1:]
