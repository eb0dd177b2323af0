"""Markdown tables and docstrings, as the reference pages write them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Yields")
HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$", re.MULTILINE)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; a bar within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in line)} |"
        for line in lines
    )


def sections(documented: object) -> dict[str, str]:
    """Cut a Google-style docstring into its text (key ``""``) and its sections."""
    parts = HEADING.split(inspect.getdoc(documented) or "")
    below = map(inspect.cleandoc, parts[2::2])
    return {"": parts[0].strip(), **dict(zip(parts[1::2], below, strict=True))}


def entries(section: str) -> list[tuple[str, str]]:
    """Cut a section ``name: text`` into names and texts; indented lines go on with the text."""
    joined = re.sub(r"\n\s+", " ", section)
    return [
        (name.strip(), text.strip())
        for name, colon, text in (line.partition(":") for line in joined.splitlines())
        if colon
    ]
