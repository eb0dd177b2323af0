"""What a title is worth: golden values, and directions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queues import abstention, answer

from models.normalizer.answers import abstention as reasons
from tasks.apps.review.answered_run import ANSWER
from tasks.apps.review.priority import priority, why_queued

SCHEMA = {**ANSWER, "rows": pl.UInt32, "earlier_occupation_id": pl.String}
chances = st.floats(0, 1)


def worth(rows: int = 1, earlier: str | None = None, **values: Any) -> float:
    row = values | {"rows": rows, "earlier_occupation_id": earlier}
    return float(pl.DataFrame([row], schema=SCHEMA).select(priority()).item())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (answer(confidence=0.75, score=1.0), 0.25),
        (answer(confidence=0.75, score=1.0, rows=8), 2.0),
        (answer(confidence=0.75, score=0.5, score_margin=0.05), 0.25 * (1 + 0.5 + 0.5)),
        (answer(confidence=0.75, score=1.0, earlier="cook"), 0.25 * 2),
        (answer(confidence=0.75, score=1.0, earlier="nurse"), 0.25),
        (answer(confidence=None, reason="uncalibrated", score=1.2), 0.5),
        (answer(confidence=0.75, score=1.0, score_margin=None), 0.25),
        (abstention(reasons.UNSURE), 1.0),
        (abstention(reasons.NOT_A_JOB_TITLE), 1.0),
        (abstention(reasons.UNKNOWN_WORDS), 1.0),
    ],
)
def test_golden(values: dict[str, Any], expected: float) -> None:
    assert worth(**values) == pytest.approx(expected)


@pytest.mark.parametrize(
    "reason",
    [
        reasons.NULL,
        reasons.NOT_TEXT,
        reasons.EMPTY,
        reasons.NO_LETTERS,
        reasons.UNKNOWN_LETTERS,
    ],
)
def test_where_nothing_can_be_read_nothing_can_be_judged(reason: str) -> None:
    assert worth(1000, **abstention(reason)) == 0


@pytest.mark.thorough
@given(st.lists(chances, min_size=6, max_size=6), st.integers(1, 9), st.integers(1, 9))
def test_less_sure_less_alike_and_more_rows_are_worth_no_less(
    drawn: list[float], one: int, other: int
) -> None:
    margins, scores, confidences = (sorted(drawn[at : at + 2]) for at in (0, 2, 4))
    rows = sorted([one, other])
    more, less = (
        worth(rows[1 - at], None if at else "cook", **answer(**values))
        for at, values in enumerate(
            {"score_margin": margins[at], "score": scores[at], "confidence": confidences[at]}
            for at in (0, 1)
        )
    )
    assert more >= less


def test_words_say_what_made_it_worth_a_minute() -> None:
    values = answer(confidence=0.314, score=0.3, score_margin=0.01)
    row = values | {"rows": 1234, "run_reason": reasons.UNSURE, "earlier_occupation_id": "c1"}
    assert why_queued(row, {"c1": "cook"}) == (
        "1,234 rows; 31 % sure; held back in the run; the second occupation is as close; "
        "unlike the titles that the model knows; an earlier run answered cook"
    )
    row = abstention(reasons.NOT_A_JOB_TITLE) | {"rows": 1, "run_reason": None}
    assert (
        why_queued(row | {"earlier_occupation_id": None}, {}) == "1 row; no answer: not a job title"
    )
