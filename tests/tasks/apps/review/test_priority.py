"""What a title is worth: golden values, and directions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queues import abstention, answer

from models.serving import clean as reasons
from tasks.apps.review.answered_runs import ANSWER
from tasks.apps.review.candidates import is_readable, priority, why_queued

SCHEMA = {**ANSWER, "rows": pl.UInt32, "earlier_occupation_id": pl.String}
chances = st.floats(0, 1)


def frame(rows: int = 1, earlier: str | None = None, **values: Any) -> pl.DataFrame:
    return pl.DataFrame([values | {"rows": rows, "earlier_occupation_id": earlier}], schema=SCHEMA)


def worth(**values: Any) -> float:
    return float(frame(**values).select(priority()).item())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (answer(confidence=0.75), 0.25),
        (answer(confidence=0.75, rows=8), 2.0),
        (answer(confidence=0.75, earlier="cook"), 0.25 * 2),
        (answer(confidence=0.75, earlier="nurse"), 0.25),
        (answer(confidence=1.0), 0.0),
        (answer(confidence=None, reason="uncalibrated"), 0.5),
        (abstention(reasons.UNSURE), 1.0),
        (abstention(reasons.NOT_A_JOB_TITLE), 0.5),
        (abstention(reasons.UNKNOWN_WORDS), 0.5),
    ],
)
def test_golden(values: dict[str, Any], expected: float) -> None:
    assert worth(**values) == pytest.approx(expected)
    assert frame(**values).select(is_readable()).item()


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
    assert not frame(**abstention(reason)).select(is_readable()).item()


@pytest.mark.thorough
@given(st.lists(chances, min_size=2, max_size=2), st.integers(1, 9), st.integers(1, 9))
def test_less_sure_and_more_rows_are_worth_no_less(
    drawn: list[float], one: int, other: int
) -> None:
    (fewer, more), (less, sure) = sorted([one, other]), sorted(drawn)
    lowest = worth(rows=fewer, **answer(confidence=sure))
    assert worth(rows=more, **answer(confidence=less)) >= lowest
    assert worth(rows=fewer, earlier="cook", **answer(confidence=sure)) >= lowest


def test_words_say_what_made_it_worth_a_minute() -> None:
    values = answer(confidence=0.314, score=0.3, score_margin=0.01)
    of_run = {"rows": 1234, "chosen_by": "coverage", "gain": 1500.4}
    row = values | of_run | {"run_reason": reasons.UNSURE, "earlier_occupation_id": "c1"}
    assert why_queued(row, {"c1": "cook"}) == (
        "1,234 rows; 31 % sure; helps with some 1,500 rows; held back in the run; the second "
        "occupation is as close; unlike the titles that the model knows; an earlier run answered "
        "cook"
    )
    row = abstention(reasons.NOT_A_JOB_TITLE) | {"rows": 1, "chosen_by": "random", "gain": None}
    row |= {"run_reason": None, "earlier_occupation_id": None}
    assert why_queued(row, {}) == "1 row; no answer: not a job title; drawn at random"
    assert why_queued(row | {"chosen_by": "coverage", "gain": 0.6}, {}).endswith("not a job title")
