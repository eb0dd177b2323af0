"""Parquet, JSON Lines and workbooks are read like CSV: cells as text, bad rows with their fault."""

import csv
import io
import json
import tempfile
from datetime import date, datetime, time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workbooks import write_workbook

from tasks.tables import typed_tables
from tasks.tables.read_table import read_rows, read_table
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError, SourceFile
from tasks.tables.typed_tables import cell_text, parquet_batches, whole_number

MAP = {"title": "Title", "id": "id"}


def read(path: Path) -> tuple[list[tuple], RejectedRows]:
    """Return rows as (line, title, id), and the rejected rows."""
    rejected = RejectedRows()
    rows = read_rows(path, MAP, "From us.", rejected)
    return [(row.line, *row.values.values()) for row in rows], rejected


def write_parquet(folder: Path, frame: pl.DataFrame) -> Path:
    frame.write_parquet(folder / "f.parquet")
    return folder / "f.parquet"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (" nurse ", " nurse "),
        (2231.0, "2231"),
        (2231, "2231"),
        (0.5, "0.5"),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (True, "true"),
        (["é", 1], '["é", 1]'),
        (date(2026, 11, 24), "2026-11-24"),
        (datetime(2026, 11, 24, 13, 5), "2026-11-24 13:05:00"),
        (time(13, 5), "13:05:00"),
    ],
)
def test_a_cell_is_the_text_that_a_person_would_have_typed(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_whole_numbers_lose_their_fraction_and_nothing_else_changes() -> None:
    assert [whole_number(text) for text in ("2231.0", "-7.00", "0123.0")] == ["2231", "-7", "0123"]
    for text in ("11-1011.00", "2231.5", "1.0.0", "x.0", ""):
        assert whole_number(text) == text


def test_numbers_nulls_and_faults_of_parquet(tmp_path: Path) -> None:
    columns = {"id": [7, None, None, 9], "Title": ["a,b", "😀", None, "x\x00"]}
    frame = pl.DataFrame({"other": [0, 0, 0, 0], **columns})
    taken, rejected = read(write_parquet(tmp_path, frame))
    assert taken == [(1, "a,b", "7"), (2, "😀", "")]
    assert rejected.refused == [
        ("f.parquet", 3, "empty row", ","),
        ("f.parquet", 4, "bytes that are not text", "x\x00,9"),
    ]
    assert rejected.rows == {"f.parquet": 4}


VALUE = st.text('a,"\n\r 😀', max_size=4)


@pytest.mark.thorough
@given(rows=st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=5))
def test_a_row_of_parquet_is_shown_as_the_csv_module_writes_it(rows: list[tuple[str, str]]) -> None:
    """Whatever batch it lies in."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed_tables, "CHUNK", 2)
        frame = pl.DataFrame(rows, schema={"Title": pl.String, "id": pl.String}, orient="row")
        path = write_parquet(Path(folder), frame)
        chunks = list(read_table(path, MAP, "", RejectedRows()))
    whole = pl.concat(chunk.places for chunk in chunks)
    assert whole["line"].to_list() == list(range(1, len(rows) + 1))
    for row, text in zip(rows, whole["text"], strict=True):
        line = io.StringIO(newline="")
        csv.writer(line).writerow(row)
        assert f"{text}\r\n" == line.getvalue()


@pytest.mark.parametrize("title", [["a"], {"en": "a"}, b"a"])
def test_a_column_of_parquet_that_is_no_text_is_named(tmp_path: Path, title: object) -> None:
    with pytest.raises(IngestError, match=r"column 'Title' is .*, not text"):
        read(write_parquet(tmp_path, pl.DataFrame({"Title": [title], "id": ["x"]})))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_of_parquet_that_is_no_utf8_is_an_error(tmp_path: Path, kind: pa.DataType) -> None:
    """Polars ended with a panic, and a CSV file came out that nobody could read."""
    wrong = pa.array([b"baker", b"B\xe4cker"], pa.large_binary()).cast(kind, safe=False)
    pq.write_table(pa.table({"title": wrong}), tmp_path / "a.parquet")
    with pytest.raises(pa.ArrowInvalid, match=r"column 'title', rows 1 to 2: Invalid UTF8"):
        [*parquet_batches(SourceFile.at(tmp_path / "a.parquet", ""))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_members_are_columns_whatever_their_order(tmp_path: Path, encoding: str) -> None:
    objects = [{"id": 2231.0, "Title": "Köchin, ✓"}, {"Title": "a\nb", "x": [1]}]
    objects += [{"id": None, "Title": ""}]
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)
    (tmp_path / "f.ndjson").write_text(text, encoding)
    taken, rejected = read(tmp_path / "f.ndjson")
    assert taken == [(1, "Köchin, ✓", "2231"), (2, "a\nb", ""), (3, "", "")]
    assert rejected.refused == []
    assert rejected.read_as()[0].endswith(", JSON Lines")


def test_lines_that_are_no_object_are_refused_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(typed_tables, "OBJECTS", 4)
    lines = ['{"Title": "a", "id": 1}', '{"Title"', "[1]", "", '{"Title": "b\\u0000"}']
    lines += ['{"Title": "c", "new": 1}', '{"Title": "d"}\n']
    (tmp_path / "f.jsonl").write_text("\n".join(lines))
    taken, rejected = read(tmp_path / "f.jsonl")
    assert [title for _, title, _ in taken] == ["a", "d"]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (2, typed_tables.BAD_JSON),
        (3, typed_tables.BAD_JSON),
        (4, "empty row"),
        (5, "bytes that are not text"),
        (6, typed_tables.NEW_MEMBER),
    ]


def test_the_first_visible_sheet_with_cells_is_read(tmp_path: Path) -> None:
    """Numbers are text without a fraction; empty rows at the end are none."""
    rows = [["id", "Title", None], [2231.0, "Köchin,\nBäckerin", None], [None, None], [7, "x"]]
    sheets = {"_hidden": [["x"]], "empty": [], "A": [*rows, [None, " "]], "B": [["y"]]}
    taken, rejected = read(write_workbook(tmp_path / "f.xlsx", sheets))
    assert taken == [(2, "Köchin,\nBäckerin", "2231"), (4, "x", "7")]
    assert rejected.refused == [("f.xlsx", 3, "empty row", ",")]
    assert rejected.read_as() == ["f.xlsx: Excel; sheet 'A'; not read: 'B'"]


def test_rows_above_the_header_of_a_sheet_are_told(tmp_path: Path) -> None:
    rows = [["Report of May"], [], ["id", "Title"], [1, "nurse"], [2, "cook", "stray"]]
    taken, rejected = read(write_workbook(tmp_path / "f.xlsm", {"A": rows}))
    assert taken == [(4, "nurse", "1"), (5, "cook", "2")]
    notes = "1 row above the header left out; column 3 has no name: column_3"
    assert notes in rejected.read_as()[0]


def test_what_is_no_such_table_or_lacks_a_column_is_said(tmp_path: Path) -> None:
    """A sheet of blanks has no cells; a missing column is named alike whatever the kind."""
    for content in (b"", b"a,b\n1,2\n", b"PAR1" * 9):
        (tmp_path / "f.parquet").write_bytes(content)
        with pytest.raises(IngestError, match="no readable Parquet file"):
            read(tmp_path / "f.parquet")
    (tmp_path / "f.jsonl").write_text("t,id\n")
    with pytest.raises(IngestError, match=r"no line with a JSON object\. From us"):
        read(tmp_path / "f.jsonl")
    for rows in ([], [[" "]]):
        with pytest.raises(IngestError, match=r"has no sheet with cells\. From us"):
            read(write_workbook(tmp_path / "f.xlsx", {"A": rows}))
    write_parquet(tmp_path, pl.DataFrame({"Title": ["a"]}))
    (tmp_path / "f.jsonl").write_text('{"Title": 1}\n')
    write_workbook(tmp_path / "f.xlsx", {"A": [["Title", "x"], ["a", "b"]]})
    for kind in ("parquet", "jsonl", "xlsx"):
        with pytest.raises(IngestError, match=rf"f\.{kind} has no column \['id'\], .*From us\."):
            read(tmp_path / f"f.{kind}")
