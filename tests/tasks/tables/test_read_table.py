"""Chunks hold what rows do; refused rows are counted, one by one or in frames."""

import polars as pl
import pytest

from tasks.io.frames import check
from tasks.io.schemas import REJECTED
from tasks.tables.read_table import read_rows, read_table
from tasks.tables.rejected import CHUNK, EMPTY_ROW, RejectedRows, Row, require_few_refused
from tasks.tables.source_files import IngestError

CONTENT = 'b;c;a\n1;;"x\ny"\n;;\n2;z\n3;;caf\ufffd\n4;;"d;"\n5;;"\n6;;w\n'
COLUMNS = {"first": "a", "second": "b", "again": "b"}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_the_same_rows_in_chunks_of_any_size(tmp_path, name: str, size: int, monkeypatch) -> None:
    path = tmp_path / name
    if name == "f.csv":
        path.write_bytes(CONTENT.encode().replace(b"\xef\xbf\xbd", b"\xe9\xc3\xa9\xff"))
    else:
        frame = pl.DataFrame({"a": ["x", " ", "y\x00", None], "b": [1, None, 2, 3]})
        frame.write_parquet(path)
    for module in ("rejected", "typed_tables"):
        monkeypatch.setattr(f"tasks.tables.{module}.CHUNK", size)
    rows, chunked = RejectedRows(), RejectedRows()
    taken = [(row.line, *row.values.values()) for row in read_rows(path, COLUMNS, "From us.", rows)]
    chunks = list(read_table(path, COLUMNS, "From us.", chunked))
    whole = pl.concat(pl.concat([chunk.places, chunk.values], how="horizontal") for chunk in chunks)
    assert max(len(chunk.places) for chunk in chunks) <= size
    assert whole.filter(pl.col("fault").is_null()).select("line", *COLUMNS).rows() == taken
    refused = whole.drop_nulls("fault").select("line", "fault", "text").rows()
    assert refused == [row[1:] for row in rows.refused]
    assert len(refused) >= 2
    assert chunked.read_as() == rows.read_as()
    assert chunked.rows == {}


FRAME = pl.DataFrame([("g", 7, "b", "y"), ("g", 9, "a", "z")], schema=REJECTED, orient="row")


def test_rows_and_frames_in_the_order_of_reading() -> None:
    rejected = RejectedRows()
    assert (rejected.refused, rejected.reasons(), rejected.by_file()) == ([], {}, {})
    rejected.refuse(Row("f", 1, "x\udcff", {}), "a")
    rejected.refuse_all(FRAME)
    rejected.refuse_all(FRAME.clear())
    rejected.refuse(Row("f", 2, "x", {}), "a")
    assert rejected.refused == [("f", 1, "a", "x\\udcff"), *FRAME.rows(), ("f", 2, "a", "x")]
    assert rejected.refused == check(rejected.frame(), REJECTED, "rejected").rows()
    assert rejected.reasons() == {"a": 3, "b": 1}
    assert rejected.by_file() == {"f": {"a": 2}, "g": {"a": 1, "b": 1}}


def test_many_rows_are_put_away_in_frames() -> None:
    rejected = RejectedRows()
    for line in range(CHUNK + 1):
        rejected.refuse(Row("f", line, "x", {}), "a")
    assert rejected.frame()["line"].to_list() == list(range(CHUNK + 1))


def test_notices_are_no_faults() -> None:
    rejected = RejectedRows()
    rejected.rows["f"] = 3
    rejected.refuse(Row("f", 1, "", {}), EMPTY_ROW)
    require_few_refused(rejected, 0.0, "section")
    rejected.refuse(Row("f", 2, "x", {}), "a")
    with pytest.raises(IngestError, match=r"1 of 3 rows .* section\.max_rejected_share = 0: {'a'"):
        require_few_refused(rejected, 0.0, "section")
