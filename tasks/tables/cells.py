"""Typed cells of workbooks and JSON as text, as a table of text would hold them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from datetime import date, datetime, time

WHOLE_FLOAT = re.compile(r"([-+]?\d+)\.0+")
EXACT = 2**53  # below it a float is one whole number


def cell_text(value: object) -> str:
    """Return a value as text: null empty, whole numbers without a fraction, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def whole_number(text: str) -> str:
    """Return `2231` for `2231.0`, as programs write a number beside missing ones; else `text`."""
    match = WHOLE_FLOAT.fullmatch(text)
    return match[1] if match else text


def csv_line(cells: Iterable[str]) -> str:
    """Return cells as the csv module writes them, without a line end."""
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()
