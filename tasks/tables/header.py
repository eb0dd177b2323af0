"""The header of a table: where it stands, its columns' names, and what is told of them.

Above it may be lines that belong to no table: blank ones, comments, the title of a report.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

Fields = Sequence[str] | None
HEADER_ROWS = 50  # among which the header is
NUMBER = re.compile(r"[-+]?[\d.,:/\s-]*\d[\d.,:/\s-]*%?")


class Header(NamedTuple):
    """The names of the columns, and what a user should know of them."""

    names: list[str]
    notes: list[str]


def header_place(rows: Sequence[Fields], needed: Collection[str]) -> int:
    """Return which of the first rows of a file is its header.

    It is the first that has all `needed` names, in whatever case. Without such a row it is the
    first that is as wide as more than half of the rows, if it holds names and no values; else the
    first that is not blank.
    """
    names = {one_line(name).casefold() for name in needed}
    for place, row in enumerate(rows[:HEADER_ROWS]):
        if names and names <= {one_line(name).casefold() for name in row or ()}:
            return place
    extents = [extent(row) for row in rows]
    filled = sorted(one for one in extents if one) or [0]
    usual = filled[(len(filled) - 1) // 2]  # more than half are at least as wide
    first = next((place for place, one in enumerate(extents) if one != 0), 0)
    if extents[first:] and extents[first] < 0:
        return first  # broken quotes in the header itself
    for place in range(first, min(len(rows), HEADER_ROWS)):
        row = rows[place]
        if row and extents[place] >= usual and not is_comment(row):
            return place if place == first or holds_names(row) else first
    return first


def is_comment(row: Sequence[str]) -> bool:
    """Tell whether a row is a comment: ``# …``, and not the name of a column ``#``."""
    return row[0].lstrip().startswith(("# ", "##", "// "))


def holds_names(row: Sequence[str]) -> bool:
    """Tell whether a row may be a header: its cells differ, and none is a number or a date."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return len(set(cells)) == len(cells) and not any(map(NUMBER.fullmatch, cells))


def header_of(row: Sequence[str], below: Sequence[Fields]) -> Header:
    """Name all columns: last ones without a name and without values (`below`) are left out."""
    names = [name.strip() for name in row]
    width = max([extent(names), *(min(extent(fields), len(names)) for fields in below)], default=0)
    notes = []
    if left := len(names) - width:
        notes.append(f"{left} empty column{'s' * (left > 1)} behind the last left out")
    for place, name in enumerate(names[:width]):
        if not name:
            names[place] = _free(f"column_{place + 1}", names)
            notes.append(f"column {place + 1} has no name: {names[place]}")
    return Header(names[:width], notes)


def one_line(name: str) -> str:
    """Return the name of a column as it is compared: no line breaks, no white space around it."""
    return re.sub(r"\s*[\r\n]+\s*", " ", name.strip())


def extent(row: Fields) -> int:
    """Return how many fields there are up to the last that is not blank; -1: broken quotes."""
    if row is None:
        return -1
    return max((place for place, field in enumerate(row, 1) if field.strip()), default=0)


def _free(name: str, names: Collection[str]) -> str:
    while name in names:
        name += "_"
    return name
