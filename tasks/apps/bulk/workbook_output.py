"""Tables as a workbook of one sheet, row by row, so that memory does not grow with them.

Text is written as text, so no cell is a formula. Whole numbers of more than 15 digits are text too,
because Excel keeps no more of a number; text is truncated at the 32,767 characters of a cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

MADE = datetime(2000, 1, 1, tzinfo=UTC)  # equal tables give equal bytes
CELL = 32_767  # UTF-16 units
DIGITS = 10**15
FIRST_YEAR = 1900  # of Excel's dates


def write_workbook(frames: Iterable[pl.DataFrame], path: Path, temporary: Path) -> None:
    """Write frames with equal columns and no nested types below one another.

    `temporary`: an empty folder for the rows before they are packed.
    """
    options = {"constant_memory": True, "use_zip64": True, "tmpdir": str(temporary)}
    with Workbook(str(path), options) as book:
        book.set_properties({"created": MADE})
        bold = book.add_format({"bold": True})
        formats: dict[type, Format] = {
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        sheet, row = book.add_worksheet("answers"), 0
        sheet.freeze_panes(1, 0)
        for frame in frames:
            if row == 0:
                for place, name in enumerate(frame.columns):
                    sheet.write_string(0, place, _truncated(name), bold)
            for cells in frame.iter_rows():
                row += 1
                for place, cell in enumerate(cells):
                    if cell not in (None, ""):
                        _write(sheet, row, place, cell, formats)


def _write(
    sheet: Worksheet, row: int, place: int, cell: object, formats: Mapping[type, Format]
) -> None:
    if isinstance(cell, bool):
        sheet.write_boolean(row, place, cell)
    elif isinstance(cell, int | float | Decimal) and _is_kept(cell):
        sheet.write_number(row, place, cell)
    elif isinstance(cell, date) and _is_date(cell):
        sheet.write_datetime(row, place, cell, formats[type(cell)])
    else:
        sheet.write_string(row, place, _truncated(str(cell)))


def _is_kept(number: float | Decimal) -> bool:
    return math.isfinite(number) and (isinstance(number, float) or abs(number) < DIGITS)


def _is_date(moment: date) -> bool:
    """Tell whether Excel has this date: none before 1900, and no time zones."""
    return moment.year >= FIRST_YEAR and getattr(moment, "tzinfo", None) is None


def _truncated(text: str) -> str:
    if len(text) <= CELL // 2:
        return text
    return text.encode("utf-16-le")[: 2 * CELL].decode("utf-16-le", "ignore")
