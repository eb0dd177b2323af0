"""The format of a file, found by its header and by rows as wide as the header.

The csv module's sniffer guesses from the frequency of any character; this rule has four candidates.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tasks.tables.header import extent, header_place, one_line
from tasks.tables.records import AS_FOUND, BACKSLASH, Format, Records

NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""The candidates, the most usual first, and their names in messages."""
LINES = 2000  # that are looked at
DECLARED = re.compile(r'"?sep=(.)"?[,;\t|]*[\r\n]*', re.IGNORECASE)
"""A first line ``sep=;``, for Excel; other programs save it with a field for each column."""


class Fit(NamedTuple):
    """A file read in one format."""

    form: Format
    header: list[str]
    constancy: float
    """Share of the rows that are as wide as the header; 1 without rows."""
    place: int = 0
    """How many records stand above the header."""
    fitting: float = 1.0
    """`constancy` without regard to empty last fields."""

    @property
    def is_table(self) -> bool:
        """Tell whether there are several columns, and most rows have them."""
        return len(self.header) > 1 and self.fitting > 0.5

    def names(self, columns: Iterable[str]) -> bool:
        """Tell whether the header has all of `columns`, in whatever case."""
        header = {one_line(name).casefold() for name in self.header}
        return {one_line(name).casefold() for name in columns} <= header


def find_format(
    lines: list[str], needed_columns: Collection[str] = (), form: Format = AS_FOUND
) -> Fit:
    """Choose a delimiter by the first lines of a file, and whether backslashes escape quotes.

    Formats with which the header names all `needed_columns` (in any case) come before all others,
    and those that split a header before those that leave it whole. Then a table of several columns
    comes before one column; then that with which most rows are as wide as the header; then the
    widest; then the most usual. So a single column whose titles hold commas is read with tabs.

    `form`: its delimiter holds, if it has one.
    """
    forms = [replace(form, delimiter=one) for one in form.delimiter or NAMES]
    if form.quoting != csv.QUOTE_NONE and any(BACKSLASH in line for line in lines[:LINES]):
        forms += [replace(one, backslash=True) for one in forms]
    fits = [fit(lines, one, needed_columns) for one in forms]
    naming = [one for one in fits if needed_columns and one.names(needed_columns)]
    splitting = [one for one in fits if len(one.header) > 1]
    return max(
        naming or splitting or fits,
        key=lambda one: (one.is_table, one.constancy, len(one.header)),
    )


def fit(lines: list[str], form: Format, needed_columns: Collection[str] = ()) -> Fit:
    """Read the beginning of a file in one format; blank lines are no rows."""
    sample = [fields for _, _, fields in Records(lines[:LINES], form)]
    place = header_place(sample, needed_columns)
    header = (sample[place : place + 1] or [None])[0] or []
    rows = [row for row in sample[place + 1 :] if row != []]
    wide = sum(row is not None and len(row) == len(header) for row in rows)
    fitting = sum(row is not None and _fits(row, header) for row in rows)
    names = [name.strip() for name in header]
    shares = [count / len(rows) if rows else 1.0 for count in (wide, fitting)]
    return Fit(form, names, shares[0], place, shares[1])


def _fits(row: Sequence[str], header: Sequence[str]) -> bool:
    """Tell whether a row is as wide as the header, empty last fields of either aside."""
    return (
        len(row) == len(header)
        or extent(row) <= len(header) < len(row)
        or extent(header) <= len(row) < len(header)
    )


def checked_delimiter(name: str) -> str:
    r"""Return `name`, a parameter: one character, or empty.

    Raises:
        ValueError: it is longer (a tab is written ``"\t"`` in YAML), or a quote, or a line end.
    """
    if len(name) > 1 or name in ('"', "\r", "\n"):
        raise ValueError(f'{name!r} is no delimiter; choose one character ("\\t" is a tab), or ""')
    return name


def checked_encoding(name: str) -> str:
    """Return `name`, an encoding that Python knows, or empty; ValueError if it is another."""
    try:
        codecs.lookup(name or "utf-8")
    except LookupError:
        raise ValueError(
            f'{name!r} is no encoding; utf-8, cp1252 and utf-16-le are, or "" for what is found'
        ) from None
    return name
