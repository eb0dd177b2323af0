"""The version that waits for replies, and what the review reads of its titles."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.io.frames import write_json
from tasks.release.gate.waiting import FILE, TITLES, read_disputed, waiting_version, write_waiting


def test_what_the_review_reads(tmp_path: Path) -> None:
    """One row a normalized title, in the order of the draw; none without a decision."""
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None
    titles = [["Cook!", "a"], ["Nurse", None], ["cook", "b"]]
    for rows in ([], titles):
        write_waiting(tmp_path, "7", {"queried": 5, "titles": rows})
        made = read_disputed(tmp_path)
        assert dict(made.schema) == dict(TITLES) and waiting_version(tmp_path) == "7"
    assert made.rows() == [("Cook!", "cook", 0, "a"), ("Nurse", "nurse", 1, None)]
    assert made["other_occupation_id"].dtype == pl.String
    write_waiting(tmp_path, "8", None)
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None


def test_titles_of_an_earlier_rolecall_name_no_version(tmp_path: Path) -> None:
    write_json({"queried": 5, "titles": [["Cook!", "a"]]}, tmp_path / FILE)
    assert waiting_version(tmp_path) is None and len(read_disputed(tmp_path)) == 1
