"""A sheet of Excel is a table like any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbooks import write_workbook

from tasks.tables.read_table import read_rows
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

MAP = {"title": "Title", "id": "id"}


def read(path: Path) -> tuple[list[tuple], RejectedRows]:
    rejected = RejectedRows()
    rows = read_rows(path, MAP, "From us.", rejected)
    return [(row.line, *row.values.values()) for row in rows], rejected


def test_the_first_visible_sheet_with_cells_is_read(tmp_path: Path) -> None:
    """Numbers are text without a fraction; empty rows at the end are none."""
    rows = [["id", "Title", None], [2231.0, "Köchin,\nBäckerin", None], [None, None], [7, "x"]]
    sheets = {"_hidden": [["x"]], "empty": [], "A": [*rows, [None, " "]], "B": [["y"]]}
    taken, rejected = read(write_workbook(tmp_path / "f.xlsx", sheets))
    assert taken == [(2, "Köchin,\nBäckerin", "2231"), (4, "x", "7")]
    assert rejected.refused == [("f.xlsx", 3, "empty row", ",")]
    assert rejected.read_as() == ["f.xlsx: Excel; sheet 'A'; not read: 'B'"]


def test_rows_above_the_header_are_told(tmp_path: Path) -> None:
    rows = [["Report of May"], [], ["id", "Title"], [1, "nurse"], [2, "cook", "stray"]]
    taken, rejected = read(write_workbook(tmp_path / "f.xlsm", {"A": rows}))
    assert taken == [(4, "nurse", "1"), (5, "cook", "2")]
    assert (
        "1 row above the header left out; column 3 has no name: column_3" in rejected.read_as()[0]
    )


def test_what_is_no_sheet_with_the_columns(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"no column \['id'\], only \['Title', 'x'\]\. From us"):
        read(write_workbook(tmp_path / "f.xlsx", {"A": [["Title", "x"], ["a", "b"]]}))
    with pytest.raises(IngestError, match=r"has no sheet with cells\. From us"):
        read(write_workbook(tmp_path / "f.xlsx", {"A": []}))
