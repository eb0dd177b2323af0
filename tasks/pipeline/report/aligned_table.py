"""A Markdown table that can be read as it stands, in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Rows = Iterable[Sequence[str]]


def aligned(head: Sequence[str], rows: Rows) -> str:
    """Write a Markdown table with columns of equal width; empty without rows."""
    body = [list(row) for row in rows]
    if not body:
        return ""
    widths = [max(3, *map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [list(head), ["-" * width for width in widths], *body]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )
