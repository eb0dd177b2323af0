"""Paragraphs and pipe tables of our own Markdown as HTML: what the gate writes, and no more.

Marks for bold and code are taken off; everything else is text, and escaped.
"""

from __future__ import annotations

import re
from itertools import groupby

from tasks.pipeline.report.markup import Html, number, number_head, paragraph, table

MARKS = re.compile(r"\*\*|`")
RULE = re.compile(r"[ |:-]+")


def markdown_as_html(text: str) -> list[Html]:
    """Return paragraphs and tables in their order; a paragraph before a table is its caption."""
    blocks = [list(lines) for full, lines in groupby(text.splitlines(), _is_full) if full]
    made: list[Html] = []
    caption = ""
    for block in blocks:
        if block[0].lstrip().startswith("|"):
            made.append(_table(caption, block))
            caption = ""
        else:
            made += [paragraph(caption)] if caption else []
            caption = MARKS.sub("", " ".join(line.strip() for line in block))
    return [*made, paragraph(caption)] if caption else made


def _is_full(line: str) -> bool:
    return bool(line.strip())


def _table(caption: str, lines: list[str]) -> Html:
    head, *rows = [_cells(line) for line in lines if not RULE.fullmatch(line)]
    rules = next((_cells(line) for line in lines if RULE.fullmatch(line)), [])
    right = [cell.endswith(":") and not cell.startswith(":") for cell in rules]
    right += [False] * (len(head) - len(right))
    return table(
        caption,
        [number_head(cell) if r else cell for cell, r in zip(head, right, strict=True)],
        [[number(cell) if r else cell for cell, r in zip(row, right, strict=True)] for row in rows],
    )


def _cells(line: str) -> list[str]:
    return [MARKS.sub("", cell.strip()) for cell in line.strip().strip("|").split("|")]
