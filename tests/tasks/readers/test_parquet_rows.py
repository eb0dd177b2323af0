"""Parquet rows read like CSV rows."""

import polars as pl
import pytest

from tasks.readers.outside import IngestError
from tasks.readers.parquet_rows import parquet_rows
from tasks.readers.rejected import Ledger

MAP = {"raw_title": "Title", "occupation_id": "id"}


def write(tmp_path, frame: pl.DataFrame):
    frame.write_parquet(tmp_path / "f.parquet")
    return tmp_path / "f.parquet"


def test_numbers_nulls_and_faults(tmp_path) -> None:
    frame = pl.DataFrame(
        {"other": [0, 0, 0, 0], "id": [7, None, None, 9], "Title": ["a,b", "😀", None, "x\x00"]}
    )
    ledger = Ledger()
    rows = list(parquet_rows(write(tmp_path, frame), MAP, "", ledger))
    assert [(row.line, row.text, row.values) for row in rows] == [
        (1, '"a,b",7', {"raw_title": "a,b", "occupation_id": "7"}),
        (2, "😀,", {"raw_title": "😀", "occupation_id": ""}),
    ]
    assert [(line, reason) for _, line, reason, _ in ledger.refused] == [
        (3, "empty row"),
        (4, "bytes that are not text"),
    ]
    assert ledger.rows == {"f.parquet": 4}


def test_a_missing_column_is_named(tmp_path) -> None:
    path = write(tmp_path, pl.DataFrame({"Title": ["a"]}))
    with pytest.raises(IngestError, match=r"f\.parquet has no column \['id'\].*From us\."):
        list(parquet_rows(path, MAP, "From us.", Ledger()))


@pytest.mark.parametrize("title", [["a"], {"en": "a"}, b"a"])
def test_a_column_that_is_no_text_is_named(tmp_path, title) -> None:
    path = write(tmp_path, pl.DataFrame({"Title": [title], "id": ["x"]}))
    with pytest.raises(IngestError, match=r"column 'Title' is .*, not text"):
        list(parquet_rows(path, MAP, "", Ledger()))


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" * 9])
def test_what_is_no_parquet_is_said(tmp_path, content: bytes) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(content)
    with pytest.raises(IngestError, match="no readable Parquet file"):
        list(parquet_rows(path, MAP, "", Ledger()))
