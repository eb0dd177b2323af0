r"""Cells of CSV files that a spreadsheet would compute: guarded when written, restored when read.

A `'` stands before what begins like a formula (OWASP, "CSV injection"): at the beginning of a cell,
and behind `;`, `|`, a tab or a line break in it, where a program with another separator begins a
cell. Numbers stay as they are. `browser/saving.js` of the review page guards by the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

SIGNS = r"=+\-@\t\r\n＝＋－＠"
STARTS = r"(?:^|(?<=[;|\t\r\n]))"  # of a cell, whatever separates cells
UNGUARDED = re.compile(rf"{STARTS}(?='*[{SIGNS}])")
GUARDED = re.compile(rf"{STARTS}'(?='*[{SIGNS}])")
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?", re.ASCII)


def guard(text: str) -> str:
    """Put a `'` before each beginning of a formula."""
    return text if NUMBER.fullmatch(text) else UNGUARDED.sub("'", text)


def unguard(text: str) -> str:
    """Take away what `guard` has put there: `unguard(guard(text)) == text`."""
    return GUARDED.sub("", text)


def guarded(texts: pl.Series) -> pl.Series:
    """Guard every cell of a column of text."""
    return _replaced(texts, guard)


def unguarded(texts: pl.Series) -> pl.Series:
    """Restore every cell of a column of text."""
    return _replaced(texts, unguard)


def _replaced(texts: pl.Series, change: Callable[[str], str]) -> pl.Series:
    """Change cells with a sign at a beginning; the others are nearly all of them."""
    suspect = texts.str.contains(rf"(?:^|[;|\t\r\n])'*[{SIGNS}]").fill_null(False)
    if not suspect.any():
        return texts
    cells = [change(text) for text in texts.filter(suspect).to_list()]
    return texts.clone().scatter(suspect.arg_true(), pl.Series(cells, dtype=pl.String))
