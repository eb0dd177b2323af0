"""The version that waits for replies, and what the review reads of its titles."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tasks.io.frames import write_json
from tasks.release.gate.waiting import (
    FILE,
    TITLES,
    note_that_none_waits,
    read_disputed,
    waiting_version,
    write_waiting,
)


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
    note_that_none_waits(tmp_path)
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None


@pytest.mark.parametrize(
    ("version", "corrects", "titles"),
    [("7", None, ["Cook!"]), ("8", "7", ["Cook!"]), ("8", None, []), ("9", "8", [])],
)
def test_a_version_waits_without_a_bulk_run(
    tmp_path: Path, version: str, corrects: str | None, titles: list[str]
) -> None:
    """Replies on titles of random rows may decide; earlier titles of the same network stay."""
    write_waiting(tmp_path, "7", {"queried": 5, "titles": [["Cook!", "a"]]})
    write_waiting(tmp_path, version, None, corrects)
    assert waiting_version(tmp_path) == version
    assert read_disputed(tmp_path)["raw_title"].to_list() == titles


def test_titles_of_an_earlier_rolecall_name_no_version(tmp_path: Path) -> None:
    write_json({"queried": 5, "titles": [["Cook!", "a"]]}, tmp_path / FILE)
    assert waiting_version(tmp_path) is None and len(read_disputed(tmp_path)) == 1
    write_waiting(tmp_path, "8", None)
    assert waiting_version(tmp_path) == "8" and read_disputed(tmp_path).is_empty()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    write_waiting(tmp_path, "7", None)
    (tmp_path / FILE).write_text('{"queried": 0, "tit')
    with pytest.raises(ValueError, match=f"{FILE} is damaged .* Delete it"):
        waiting_version(tmp_path)
