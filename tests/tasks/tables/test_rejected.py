"""The rejected counts what it was told, one by one or in frames, in the order of reading."""

from __future__ import annotations

import polars as pl
import pytest

from tasks.io.frames import check
from tasks.io.schemas import REJECTED
from tasks.tables.rejected import CHUNK, EMPTY_ROW, RejectedRows, Row, require_few_refused
from tasks.tables.source_files import IngestError

FRAME = pl.DataFrame([("g", 7, "b", "y"), ("g", 9, "a", "z")], schema=REJECTED, orient="row")


def test_rows_and_frames_in_the_order_of_reading() -> None:
    rejected = RejectedRows()
    assert (rejected.refused, rejected.reasons(), rejected.by_file()) == ([], {}, {})
    rejected.refuse(Row("f", 1, "x\udcff", {}), "a")
    rejected.refuse_all(FRAME)
    rejected.refuse_all(FRAME.clear())
    rejected.refuse(Row("f", 2, "x", {}), "a")
    assert rejected.refused == [
        ("f", 1, "a", "x\\udcff"),
        ("g", 7, "b", "y"),
        ("g", 9, "a", "z"),
        ("f", 2, "a", "x"),
    ]
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
