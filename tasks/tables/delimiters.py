"""The delimiter of a file, found by its header and by rows as wide as the header.

The csv module's sniffer guesses from the frequency of any character; this rule has four candidates.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from tasks.tables.records import Format, Records

NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""The candidates, the most usual first, and their names in messages."""
LINES = 2000  # that are looked at
DECLARED = re.compile(r'"?sep=(.)"?[,;\t|]*[\r\n]*', re.IGNORECASE)
"""A first line ``sep=;``, for Excel; other programs save it with a field for each column."""


class Fit(NamedTuple):
    """A file read with one delimiter."""

    delimiter: str
    header: list[str]
    constancy: float
    """Share of the rows that are as wide as the header; 1 without rows."""

    @property
    def is_table(self) -> bool:
        """Tell whether there are several columns, and most rows have them."""
        return len(self.header) > 1 and self.constancy > 0.5

    def names(self, columns: Iterable[str]) -> bool:
        """Tell whether the header has all of `columns`, in whatever case."""
        return {name.casefold() for name in columns} <= {name.casefold() for name in self.header}


def find_delimiter(lines: list[str], needed_columns: Collection[str] = ()) -> Fit:
    """Choose among the candidates by the first lines of a file, header first.

    Those with which the header names all `needed_columns` (in any case) come before all others;
    then a table of several columns before one column; then the one with which most rows are as wide
    as the header; then the widest; then the most usual. So a single column whose titles hold commas
    is read with tabs.
    """
    fits = [fit(lines, delimiter) for delimiter in NAMES]
    naming = [one for one in fits if one.names(needed_columns)]
    return max(naming or fits, key=lambda one: (one.is_table, one.constancy, len(one.header)))


def fit(lines: list[str], delimiter: str) -> Fit:
    """Read the beginning of a file with one delimiter; blank lines are no rows."""
    sample = [fields for _, _, fields in Records(lines[:LINES], Format(delimiter))]
    header, rows = (sample or [None])[0], [row for row in sample[1:] if row != []]
    wide = sum(row is not None and len(row) == len(header or []) for row in rows)
    names = [name.strip() for name in header or []]
    return Fit(delimiter, names, wide / len(rows) if rows else 1.0)


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
