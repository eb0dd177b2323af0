"""The gate queries champion and challenger, and counts the answers that change."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from frames_of import queries_of

from tasks.io.frames import write_frame
from tasks.io.queries import BEFORE_FEEDBACK
from tasks.io.schemas import QUERIES, RUN
from tasks.release.gate.run_gate import changed_predictions, gate_queries


def test_an_input_whose_label_contradicts_its_title_is_not_asked(tmp_path: Path) -> None:
    rows = [
        (f"{source}-{split}", "extra_words", split, "baker wanted", ["a"], 1, source)
        for source in ("label_agrees", "label_differs")
        for split in ("gate", "test")
    ]
    for stage in BEFORE_FEEDBACK:
        own = queries_of(rows if stage == "extra_words" else [])
        write_frame(own, tmp_path / stage / "queries.parquet", QUERIES)
    assert gate_queries(tmp_path)["query_id"].to_list() == ["label_agrees-gate"]


LABELS = {"a": "Baker", "b": "Cook", "c": "Nurse"}


def run(first: dict[str, str | None]) -> pl.DataFrame:
    """Query to its first answer; the second, "a", counts for nothing."""
    rows = [
        ("s", "annotations", query, rank, name, "t", 0.5)
        for query, answer in first.items()
        for rank, name in ((1, answer), (2, "a"))
    ]
    return pl.DataFrame(rows, schema=dict(RUN), orient="row")


def test_only_first_answers_that_become_right_or_wrong() -> None:
    """q1 is right twice, q2 wrong twice with another answer, q4 may be either of two.

    For q5 the opponent abstains.
    """
    gold = {"q1": ["b"], "q2": ["a"], "q3": ["b"], "q4": ["b", "c"], "q5": ["a"]}
    rows = [(q, "annotations", "gate", f"raw {q}", own, 1, "input") for q, own in gold.items()]
    before = run({"q1": "b", "q2": "b", "q3": "a", "q4": "c", "q5": None})
    after = run({"q1": "b", "q2": "c", "q3": "b", "q4": "a", "q5": "a"})
    assert changed_predictions(
        before, after, queries_of(rows), LABELS, {"raw q4": 12, "raw q1": 3}
    ) == [
        {
            "test": "annotations",
            "raw_title": "raw q3",
            "occupation_label": "Cook",
            "before": "Baker",
            "after": "Cook",
            "change": "wrong to right",
            "rows": 0,
        },
        {
            "test": "annotations",
            "raw_title": "raw q4",
            "occupation_label": "Cook or Nurse",
            "before": "Nurse",
            "after": "Baker",
            "change": "right to wrong",
            "rows": 12,
        },
        {
            "test": "annotations",
            "raw_title": "raw q5",
            "occupation_label": "Baker",
            "before": None,
            "after": "Baker",
            "change": "wrong to right",
            "rows": 0,
        },
    ]
