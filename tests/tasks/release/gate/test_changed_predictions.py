"""Which answers count as changed, by hand."""

from __future__ import annotations

import polars as pl
from frames_of import queries_of

from tasks.io.schemas import RUN
from tasks.release.gate.changed_predictions import changed_predictions

LABELS = {"a": "Baker", "b": "Cook", "c": "Nurse"}


def run(first: dict[str, str]) -> pl.DataFrame:
    """Query to its first answer; the second, "a", counts for nothing."""
    rows = [
        ("s", "annotations", query, rank, name, "t", 0.5)
        for query, answer in first.items()
        for rank, name in ((1, answer), (2, "a"))
    ]
    return pl.DataFrame(rows, schema=dict(RUN), orient="row")


def test_only_first_answers_that_become_right_or_wrong() -> None:
    """q1 is right twice, q2 wrong twice with another answer, q4 may be either of two."""
    gold = {"q1": ["b"], "q2": ["a"], "q3": ["b"], "q4": ["b", "c"]}
    rows = [(q, "annotations", "gate", f"raw {q}", own, 1, "input") for q, own in gold.items()]
    before = run({"q1": "b", "q2": "b", "q3": "a", "q4": "c"})
    after = run({"q1": "b", "q2": "c", "q3": "b", "q4": "a"})
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
    ]
