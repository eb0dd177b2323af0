"""One file where one came in: Parquet, CSV and a workbook, with every type of Arrow as cells."""

import csv
import json
import os
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from zipfile import ZipFile

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook
from shouting import TITLES, Shouting, content, model, run, titles

from tasks.apps.bulk import output
from tasks.apps.bulk.single_file import CELL, readable, write_tables, write_workbook
from tasks.apps.unfinished import OutputError
from tasks.io.bulk_output import manifest_of
from tasks.tables.typed_tables import cell_text

__all__ = ["model", "titles"]
LOUD = [title.upper() if title else None for title in TITLES + TITLES[:2]]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["parquet", "csv", "xlsx"])
def test_all_rows_in_one_file_and_the_same_bytes_again(model, titles, tmp_path, kind) -> None:
    for name in ("one", "two"):
        run(titles, tmp_path / f"{name}.{kind}", tmp_path / "cache")
    one = tmp_path / f"one.{kind}"
    assert one.read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert {path.name for path in tmp_path.glob("one*")} == {one.name, f"{one.name}.manifest.json"}
    (part,) = json.loads(manifest_of(one).read_text())["parts"]
    assert (part["name"], part["rows"]) == (one.name, 9)
    rows = cells(one)
    assert [row["loud"] for row in rows] == LOUD
    assert [int(str(row["row"])) for row in rows] == [*range(7), 0, 1]
    model.asked.clear()
    run(titles, one, tmp_path / "cache")
    assert model.asked == [None], "up to date"


def cells(path: Path) -> list[dict[str, object]]:
    """The rows of a file; what is empty is null."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    if path.suffix == ".xlsx":
        header, *rows = read_sheet(path)
    else:
        header, *rows = csv.reader(StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
    named = [dict(zip(header, row, strict=True)) for row in rows]
    return [{name: cell or None for name, cell in row.items()} for row in named]


def test_no_cell_of_the_csv_is_a_formula_and_lists_are_text(model: Shouting, tmp_path) -> None:
    table = {"=id": [1], "title": ["pilot;=1+1"], "words": [["a", "=b"]], "scores": [[0.5, 1 / 3]]}
    pq.write_table(pa.table(table), tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", tmp_path / "out.csv", tmp_path / "cache", column=["title"])
    header, row = (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()
    assert header.startswith('''"'=id","title","words","scores","loud"''')
    assert row.startswith('''"1","pilot;'=1+1","a; =b","0.5; 0.3333","PILOT;'=1+1"''')


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["parquet", "csv", "xlsx"])
def test_refused_rows_lie_beside_it(model: Shouting, tmp_path: Path, kind: str) -> None:
    (tmp_path / "in.csv").write_text("id,title\n1,nurse\n=2\n3,cook\n")
    run(tmp_path / "in.csv", tmp_path / f"out.{kind}", tmp_path / "cache")
    (row,) = cells(tmp_path / f"out.refused.{kind}")
    text = "'=2" if kind == "csv" else "=2"
    assert [str(cell) for cell in row.values()] == ["in.csv", "3", "wrong number of fields", text]
    (tmp_path / f"out.{kind}").unlink()
    (tmp_path / "in.csv").write_text("id,title\n1,nurse\n")
    run(tmp_path / "in.csv", tmp_path / f"out.{kind}", tmp_path / "cache")
    assert not (tmp_path / f"out.refused.{kind}").exists(), "it was of the output before"


def test_a_run_that_refuses_every_row_fails_and_writes_them(model: Shouting, tmp_path) -> None:
    (tmp_path / "in.csv").write_bytes("title,é\n".encode() + b"nurse,\xff\ncook,\xff\n")
    message = r"every row was refused, 2 of 2 \(2 × [^)]*\): .*out\.refused\.csv has them"
    for _ in range(2):
        with pytest.raises(OutputError, match=message):
            run(tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "cache")
    assert len(cells(tmp_path / "out.refused.csv")) == 2
    assert cells(tmp_path / "out.csv") == []
    assert (tmp_path / "out.csv").read_text(encoding="utf-8-sig").startswith('"title","é","loud"')


@pytest.mark.parametrize("goal", ["whole.csv", "out.csv.manifest.json", "out.csv", ""])
def test_a_kill_at_the_end_loses_nothing(model, titles, tmp_path, monkeypatch, goal) -> None:
    """Before one of three files has its name, or before the rest is removed; then to the end."""

    def move(path: Path, to: Path) -> None:
        if to.name == goal:
            raise KeyboardInterrupt
        os.rename(path, to)  # noqa: PTH104

    killed = Mock(side_effect=KeyboardInterrupt)
    run(titles, tmp_path / "reference.csv", tmp_path / "cache")
    with monkeypatch.context() as patch:
        for name in ("replace", "rename"):
            patch.setattr(Path, name, move)
        if not goal:
            patch.setattr(output.Output, "_remove_all_but", killed)
        with pytest.raises(KeyboardInterrupt):
            run(titles, tmp_path / "out.csv", tmp_path / "cache")
    assert (tmp_path / "out.csv").exists() is (goal == "")
    assert "plan.json" in content(tmp_path / "out.csv.unfinished")
    run(titles, tmp_path / "out.csv", tmp_path / "cache")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "reference.csv").read_bytes()
    assert not (tmp_path / "out.csv.unfinished").exists()


def test_what_is_there_is_not_replaced(model: Shouting, titles: Path, tmp_path: Path) -> None:
    (tmp_path / "out.refused.csv").write_text("mine")
    with pytest.raises(OutputError, match=r"out\.refused\.csv is in the way"):
        run(titles, tmp_path / "out.csv", tmp_path / "cache")
    (tmp_path / "other.csv").write_text("mine")
    with pytest.raises(OutputError, match=r"other\.csv is there already"):
        run(titles, tmp_path / "other.csv", tmp_path / "cache")
    assert {path.name for path in tmp_path.iterdir()} == {"in", "other.csv", "out.refused.csv"}


@pytest.mark.parametrize(
    ("cells", "kind", "texts"),
    [
        ([["a", None, "b"], [], None], pa.list_(pa.string()), ["a; b", "", None]),
        ([[1 / 3, 1.0], None], pa.list_(pa.float64()), ["0.3333; 1.0", None]),
        ([[True, False]], pa.large_list(pa.bool_()), ["true; false"]),
        ([{"é": [1]}, None], pa.struct([("é", pa.list_(pa.int8()))]), ['{"é": [1]}', None]),
        ([[["a"], None]], pa.list_(pa.list_(pa.string())), ['[["a"], null]']),
        ([b"\xff\x00", None], pa.binary(), ["/wA=", None]),
        (["a", None], pa.dictionary(pa.int8(), pa.string()), ["a", None]),
        ([None], pa.null(), [None]),
        ([[("k", 1)]], pa.map_(pa.string(), pa.int8()), ['{"k": 1}']),
        ([timedelta(seconds=-1)], pa.duration("us"), ["-PT1S"]),
        ([True, None], pa.bool_(), [True, None]),
        ([], pa.list_(pa.string()), []),
    ],
)
def test_a_column(cells: list[Any], kind: pa.DataType, texts: list[Any]) -> None:
    frame = readable(pa.table({"a": pa.array(cells, kind), "b": pa.nulls(len(cells))}))
    assert frame.columns == ["a", "b"]
    assert frame["a"].to_list() == texts


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_every_type_can_be_written(tmp_path: Path, suffix: str) -> None:
    kinds = [pa.time32("s"), pa.time64("ns"), pa.date32(), pa.date64(), pa.timestamp("ns", "CET")]
    kinds += [pa.decimal128(9, 2), pa.float16(), pa.uint64(), pa.int8(), pa.large_binary()]
    kinds += [pa.string_view(), pa.large_string(), pa.list_(pa.date32()), pa.timestamp("s")]
    schema = pa.schema([(str(kind), kind) for kind in kinds])
    table = pa.table([pa.nulls(2, kind) for kind in kinds], schema)
    write_tables(schema, [table, table], tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").stat().st_size


def read_sheet(path: Path) -> list[list[str]]:
    """Return all cells of the one sheet as text, as a table of text would hold them."""
    with ZipFile(path) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml"), "a formula"
    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows()
    return [[cell_text(cell) for cell in row] for row in rows]


def sheet_of(tmp_path: Path, **columns: pl.Series | list[object]) -> list[list[str]]:
    (tmp_path / "temporary").mkdir()
    write_workbook([pl.DataFrame(columns)], tmp_path / "a.xlsx", tmp_path / "temporary")
    return read_sheet(tmp_path / "a.xlsx")


def test_every_kind_of_cell(tmp_path: Path) -> None:
    noon = datetime(2026, 11, 26, 12)
    texts = {"=1+1": "=1+1", "  a\n ": "  a\n ", "\x0b": "\x0b", "7": 7, "0.1": 0.1}
    texts |= {"12345678901234567": 12345678901234567, "inf": float("inf"), "true": True}
    texts |= {"1.5": Decimal("1.50"), "2026-11-26": noon.date(), "1816-04-01": date(1816, 4, 1)}
    texts |= {"2026-11-26 12:00:00": noon, "2026-11-26 12:00:00+00:00": noon.replace(tzinfo=UTC)}
    columns = {f"column {number}": [value] for number, value in enumerate(texts.values())}
    assert sheet_of(tmp_path, **columns) == [[*columns], [*texts]]


@pytest.mark.parametrize("text", ["x" * (CELL + 1), "🍞" * CELL])
def test_a_long_text_is_cut_and_not_dropped(tmp_path: Path, text: str) -> None:
    _, (cell,) = sheet_of(tmp_path, text=[text])
    assert text.startswith(cell)
    assert CELL - 1 <= len(cell.encode("utf-16-le")) // 2 <= CELL
