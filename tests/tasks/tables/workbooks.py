"""Writes Excel workbooks for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from xlsxwriter import Workbook


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """Write sheets by name; a name that begins with `_` is hidden; None is an empty cell."""
    with Workbook(str(path), {"strings_to_formulas": False}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            sheet.hide() if name.startswith("_") else sheet.activate()
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
    return path
