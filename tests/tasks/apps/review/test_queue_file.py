"""The queue as a spreadsheet opens it: no formula, every title as it was."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queues import queue_of

from tasks.apps.review.queue import write_queue
from tasks.io.formulas import NUMBER, unguard
from tasks.io.schemas import FEEDBACK

LABELS = {"nurse": "=Nurse", "baker": "Baker"}
SIGNS = "=+-@\t\r\n＝＋－＠"


def content_of(queue: pl.DataFrame) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "queue.csv"
        write_queue(queue, LABELS, path)
        content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    return content.decode("utf-8-sig")


def rows_of(queue: pl.DataFrame) -> list[dict[str, str]]:
    return [*csv.DictReader(StringIO(content_of(queue), newline=""))]


def test_columns_of_feedback_come_first_and_are_empty_where_a_person_writes() -> None:
    (row,) = rows_of(queue_of("ward, nurse"))
    assert list(row)[: len(FEEDBACK)] == list(FEEDBACK)
    assert row == {
        "raw_title": "ward, nurse",
        "predicted_occupation_id": "nurse",
        "matched_title": "Nurse",
        "model_version": "m1",
        "verdict": "",
        "corrected_occupation_id": "",
        "reviewer_id": "",
        "judged_at": "",
        "occupation_label": "'=Nurse",
        "confidence": "0.25",
        "rows": "3",
        "chosen_by": "coverage",
        "served": "answered",
        "why_queued": "3 rows",
        "second_occupation_id": "baker",
        "second_label": "Baker",
    }


def test_without_an_answer_the_newer_models_stands_as_the_second() -> None:
    """It is the only alternative of a disputed title."""
    (row,) = rows_of(queue_of("hello", occupation_id=None, top_occupation_ids=["baker"]))
    assert (row["predicted_occupation_id"], row["second_occupation_id"]) == ("", "baker")
    assert row["second_label"] == "Baker"


def test_without_an_answer_there_is_no_prediction() -> None:
    (row,) = rows_of(
        queue_of("hello", occupation_id=None, matched_title=None, top_occupation_ids=[])
    )
    assert (row["predicted_occupation_id"], row["occupation_label"], row["second_label"]) == (
        "",
        "",
        "",
    )


@pytest.mark.parametrize("separator", ",;\t")
def test_no_formula_whatever_separates_cells(separator: str) -> None:
    """As LibreOffice reads a semicolon, and Excel the list separator of the system."""
    texts = ["zeppelin pilot;=1+1", "pilot\t=1+1", "pilot\n＝1+1", 'pilot";"=1+1']
    for row in csv.reader(StringIO(content_of(queue_of(*texts)), newline=""), delimiter=separator):
        assert not any(cell.startswith(tuple(SIGNS)) for cell in row)


def test_every_cell_is_quoted() -> None:
    content = content_of(queue_of("nurse", occupation_id=None))
    assert all(cell[0] == cell[-1] == '"' for cell in content.replace("\n", ",")[:-1].split(","))


@pytest.mark.thorough
@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_every_title_can_be_read_back(titles: list[str]) -> None:
    read = [row["raw_title"] for row in rows_of(queue_of(*titles))]
    assert [unguard(cell) for cell in read] == titles
    assert not any(cell.startswith(tuple(SIGNS)) for cell in read if not NUMBER.fullmatch(cell))
