"""Writes Excel workbooks for tests, with the fewest parts that a reader asks for."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """Write sheets by name; a name that begins with `_` is hidden; None is an empty cell."""
    numbered = list(enumerate(sheets, start=1))
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}" '
        f'state="{"hidden" if name.startswith("_") else "visible"}"/>'
        for at, name in numbered
    )
    relations = "".join(
        f'<Relationship Id="r{at}" Type="{RELATIONS}/worksheet" Target="worksheets/s{at}.xml"/>'
        for at, _ in numbered
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types"/>')
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
        )
        for at, name in numbered:
            archive.writestr(f"xl/worksheets/s{at}.xml", _sheet(sheets[name]))
    return path


def _sheet(rows: Sequence[Sequence[object]]) -> str:
    lines = [
        f'<row r="{at}">'
        + "".join(_cell(f"{chr(65 + place)}{at}", value) for place, value in enumerate(row))
        + "</row>"
        for at, row in enumerate(rows, start=1)
    ]
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    text = escape(str(value))
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
