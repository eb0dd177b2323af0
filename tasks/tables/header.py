"""The header of a table: where it stands, its columns' names, and what is told of them.

Above it may be lines that belong to no table: blank ones, comments, the title of a report. A column
that is called `title` holds forms of address in many tables; `are_honorifics` recognizes them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

Fields = Sequence[str] | None
HEADER_ROWS = 50  # among which the header is
NUMBER = re.compile(r"[-+]?[\d.,:/\s-]*\d[\d.,:/\s-]*%?")
WORD = re.compile(r"\w+")
HONORIFICS = frozenset(
    WORD.findall(
        "mr mrs ms miss mx dr prof professor sir madam dame lord lady rev hon herr frau fräulein m "
        "mme mlle monsieur madame mademoiselle sr sra srta señor señora don doña dott dottssa sig "
        "sigra signor signora dhr mevr mw fru hr pan pani mgr dipl ing"
    )
)


def header_index(rows: Sequence[Fields], needed: Collection[str]) -> int:
    """Return which of the first rows of a file is its header.

    It is the first that has all `needed` names, in whatever case; else the first as wide as more
    than half of the rows, if it holds names and no values; else the first that is not blank.
    """
    names = {one_line(name).casefold() for name in needed}
    for index, row in enumerate(rows[:HEADER_ROWS]):
        if names and names <= {one_line(name).casefold() for name in row or ()}:
            return index
    extents = [extent(row) for row in rows]
    filled = sorted(one for one in extents if one) or [0]
    usual = filled[(len(filled) - 1) // 2]  # more than half are at least as wide
    first = next((index for index, one in enumerate(extents) if one), 0)
    if extents[first:] and extents[first] < 0:
        return first  # broken quotes in the header itself
    for index, row in enumerate(rows[:HEADER_ROWS]):
        # `# …` is a comment, and `#` the name of a column
        is_comment = row and row[0].lstrip().startswith(("# ", "##", "// "))
        if index >= first and row and extents[index] >= usual and not is_comment:
            return index if index == first or holds_names(row) else first
    return first


def holds_names(row: Sequence[str]) -> bool:
    """Tell whether a row may be a header: its cells differ, and none is a number or a date."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return len(set(cells)) == len(cells) and not any(map(NUMBER.fullmatch, cells))


def header_of(row: Sequence[str], below: Sequence[Fields]) -> tuple[list[str], list[str]]:
    """Return the names of all columns, less empty last ones, and notes on them for a user."""
    names = [name.strip() for name in row]
    width = max([extent(names), *(min(extent(fields), len(names)) for fields in below)], default=0)
    notes = []
    if left := len(names) - width:
        notes.append(f"{left} empty column{'s' * (left > 1)} behind the last left out")
    for index, name in enumerate(names[:width]):
        if not name:
            new = f"column_{index + 1}"
            while new in names:
                new += "_"
            names[index] = new
            notes.append(f"column {index + 1} has no name: {new}")
    return names[:width], notes


def one_line(name: str) -> str:
    """Return the name of a column as it is compared: no line breaks, no white space around it."""
    return re.sub(r"\s*[\r\n]+\s*", " ", name.strip())


def extent(row: Fields) -> int:
    """Return how many fields there are up to the last that is not blank; -1: broken quotes."""
    if row is None:
        return -1
    return max((number for number, field in enumerate(row, 1) if field.strip()), default=0)


def are_honorifics(values: Iterable[str]) -> bool:
    """Tell whether most values are forms of address (`Mr`, `Prof. Dr.`), empty ones aside."""
    filled = [value for value in values if value.strip()]
    words = [WORD.findall(value.casefold()) for value in filled]
    return 2 * sum(bool(some) and HONORIFICS.issuperset(some) for some in words) > len(filled)
