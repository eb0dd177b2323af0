"""The cells of a workbook as its XML has them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_sheet(path: Path) -> list[list[str]]:
    """Return all rows of the one sheet, as wide as the first; a formula is an error."""
    with ZipFile(path) as archive:
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows: list[list[str]] = []
    for row in sheet.iter(f"{SPACE}row"):
        cells: dict[int, str] = {}
        for cell in row:
            assert cell.find(f"{SPACE}f") is None, "a formula"
            letters = re.match("[A-Z]+", cell.attrib["r"])
            assert letters
            place = 0
            for letter in letters[0]:
                place = 26 * place + ord(letter) - 64
            cells[place] = "".join(cell.itertext())
        width = len(rows[0]) if rows else max(cells)
        rows.append([cells.get(place, "") for place in range(1, width + 1)])
    return rows
