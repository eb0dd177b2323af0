"""Cells of a workbook: what Excel would change or drop is text, and nothing is a formula."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from sheets import read_sheet

from tasks.apps.bulk import place, workbook_output
from tasks.apps.bulk.place import require_room
from tasks.apps.bulk.source import TitleSource
from tasks.apps.bulk.workbook_output import CELL, write_workbook
from tasks.apps.unfinished import OutputError


def sheet_of(tmp_path: Path, **columns: pl.Series | list[object]) -> list[list[str]]:
    (tmp_path / "temporary").mkdir()
    write_workbook([pl.DataFrame(columns)], tmp_path / "a.xlsx", tmp_path / "temporary")
    return read_sheet(tmp_path / "a.xlsx")


def test_every_kind_of_cell(tmp_path: Path) -> None:
    """Excel counts days from 1900, a leap year to it, so that 2026-11-26 is day 46,352."""
    header, row = sheet_of(
        tmp_path,
        text=["=1+1"],
        spaced=["  a\n "],
        control=["\x0b"],
        whole=[7],
        long=[12345678901234567],
        float=[0.1],
        infinite=[float("inf")],
        decimal=[Decimal("1.50")],
        flag=[True],
        day=[date(2026, 11, 26)],
        moment=[datetime(2026, 11, 26, 12)],
        zoned=[datetime(2026, 11, 26, 12, tzinfo=UTC)],
        old=[date(1816, 4, 1)],
    )
    assert header[0] == "text"
    assert row[:7] == ["=1+1", "  a\n ", "_x000B_", "7", "12345678901234567", "0.1", "inf"]
    assert row[7:11] == ["1.50", "1", "46352", "46352.5"]
    assert row[11:] == ["2026-11-26 12:00:00+00:00", "1816-04-01"]


@pytest.mark.parametrize("text", ["x" * (CELL + 1), "🍞" * CELL])
def test_a_long_text_is_cut_and_not_dropped(tmp_path: Path, text: str) -> None:
    _, (cell,) = sheet_of(tmp_path, text=[text])
    assert text.startswith(cell)
    assert CELL - 1 <= len(cell.encode("utf-16-le")) // 2 <= CELL


def test_a_sheet_has_room_or_the_run_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six rows and the header: the length of the first lines says half of them, so all count."""
    monkeypatch.setattr(place, "EXCEL_ROWS", 6)
    (tmp_path / "in.csv").write_text("title\n" + "nurse\n" * 6)
    source = TitleSource.find(str(tmp_path / "in.csv"))
    with pytest.raises(OutputError, match=r"6 rows of .* room for 5 of .* \.csv or \.parquet"):
        require_room(tmp_path / "out.xlsx", source)
    require_room(tmp_path / "out.csv", source)
    monkeypatch.setattr(place, "EXCEL_ROWS", 7)
    require_room(tmp_path / "out.xlsx", source)
    assert workbook_output.CELL == 32_767
