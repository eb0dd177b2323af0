"""Parquet rows read like CSV rows."""

import csv
import io
import tempfile
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.tables.parquet import parquet_batches
from tasks.tables.read_table import read_rows, read_table
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError, SourceFile

MAP = {"raw_title": "Title", "occupation_id": "id"}


def write(tmp_path, frame: pl.DataFrame):
    frame.write_parquet(tmp_path / "f.parquet")
    return tmp_path / "f.parquet"


def test_numbers_nulls_and_faults(tmp_path) -> None:
    frame = pl.DataFrame(
        {"other": [0, 0, 0, 0], "id": [7, None, None, 9], "Title": ["a,b", "😀", None, "x\x00"]}
    )
    rejected = RejectedRows()
    rows = list(read_rows(write(tmp_path, frame), MAP, "", rejected))
    assert [(row.line, row.text, row.values) for row in rows] == [
        (1, '"a,b",7', {"raw_title": "a,b", "occupation_id": "7"}),
        (2, "😀,", {"raw_title": "😀", "occupation_id": ""}),
    ]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (3, "empty row"),
        (4, "bytes that are not text"),
    ]
    assert rejected.rows == {"f.parquet": 4}


VALUE = st.text('a,"\n\r 😀', max_size=4)


@pytest.mark.thorough
@given(rows=st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=5))
def test_a_row_is_shown_as_the_csv_module_writes_it(rows: list[tuple[str, str]]) -> None:
    """Whatever batch it lies in."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.tables.parquet.CHUNK", 2)
        frame = pl.DataFrame(rows, schema={"Title": pl.String, "id": pl.String}, orient="row")
        chunks = list(read_table(write(Path(folder), frame), MAP, "", RejectedRows()))
    whole = pl.concat(chunk.places for chunk in chunks)
    assert whole["line"].to_list() == list(range(1, len(rows) + 1))
    for row, text in zip(rows, whole["text"], strict=True):
        line = io.StringIO(newline="")
        csv.writer(line).writerow(row)
        assert f"{text}\r\n" == line.getvalue()


def test_a_missing_column_is_named(tmp_path) -> None:
    path = write(tmp_path, pl.DataFrame({"Title": ["a"]}))
    with pytest.raises(IngestError, match=r"f\.parquet has no column \['id'\].*From us\."):
        list(read_rows(path, MAP, "From us.", RejectedRows()))


@pytest.mark.parametrize("title", [["a"], {"en": "a"}, b"a"])
def test_a_column_that_is_no_text_is_named(tmp_path, title) -> None:
    path = write(tmp_path, pl.DataFrame({"Title": [title], "id": ["x"]}))
    with pytest.raises(IngestError, match=r"column 'Title' is .*, not text"):
        list(read_rows(path, MAP, "", RejectedRows()))


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" * 9])
def test_what_is_no_parquet_is_said(tmp_path, content: bytes) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(content)
    with pytest.raises(IngestError, match="no readable Parquet file"):
        list(read_rows(path, MAP, "", RejectedRows()))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_that_is_no_utf8_is_an_error(tmp_path: Path, kind: pa.DataType) -> None:
    """Polars ended with a panic, and a CSV file came out that nobody could read."""
    wrong = pa.array([b"baker", b"B\xe4cker"], pa.large_binary()).cast(kind, safe=False)
    pq.write_table(pa.table({"title": wrong}), tmp_path / "a.parquet")
    with pytest.raises(pa.ArrowInvalid, match=r"column 'title', rows 1 to 2: Invalid UTF8"):
        [*parquet_batches(SourceFile.at(tmp_path / "a.parquet", ""))]
