"""The ledger counts what it was told, one by one or in frames, in the order of reading."""

from __future__ import annotations

import polars as pl
import pytest

from tasks.files.frames import check
from tasks.files.schemas import REJECTED
from tasks.readers.outside import IngestError
from tasks.readers.rejected import CHUNK, EMPTY_ROW, Ledger, Row, require_few_refused

FRAME = pl.DataFrame([("g", 7, "b", "y"), ("g", 9, "a", "z")], schema=REJECTED, orient="row")


def test_rows_and_frames_in_the_order_of_reading() -> None:
    ledger = Ledger()
    assert (ledger.refused, ledger.reasons(), ledger.by_file()) == ([], {}, {})
    ledger.refuse(Row("f", 1, "x\udcff", {}), "a")
    ledger.refuse_all(FRAME)
    ledger.refuse_all(FRAME.clear())
    ledger.refuse(Row("f", 2, "x", {}), "a")
    assert ledger.refused == [
        ("f", 1, "a", "x\\udcff"),
        ("g", 7, "b", "y"),
        ("g", 9, "a", "z"),
        ("f", 2, "a", "x"),
    ]
    assert ledger.refused == check(ledger.frame(), REJECTED, "ledger").rows()
    assert ledger.reasons() == {"a": 3, "b": 1}
    assert ledger.by_file() == {"f": {"a": 2}, "g": {"a": 1, "b": 1}}


def test_many_rows_are_put_away_in_frames() -> None:
    ledger = Ledger()
    for line in range(CHUNK + 1):
        ledger.refuse(Row("f", line, "x", {}), "a")
    assert [len(frame) for frame in ledger._frames] == [CHUNK]
    assert ledger.frame()["line"].to_list() == list(range(CHUNK + 1))


def test_notices_are_no_faults() -> None:
    ledger = Ledger()
    ledger.rows["f"] = 3
    ledger.refuse(Row("f", 1, "", {}), EMPTY_ROW)
    require_few_refused(ledger, 0.0, "section")
    ledger.refuse(Row("f", 2, "x", {}), "a")
    with pytest.raises(IngestError, match=r"1 of 3 rows .* section\.max_rejected_share = 0: {'a'"):
        require_few_refused(ledger, 0.0, "section")
