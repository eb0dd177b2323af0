"""Fix rates and side effects with their arithmetic, and who is asked."""

from __future__ import annotations

import polars as pl
import pytest
from frames_of import queries_of, verdicts_of

from benchmarks.studies.feedback.rates import (
    corrected_queries,
    held_out_rates,
    reworded_queries,
    same_occupation_ids,
)
from tasks.augment.superfluous import Superfluous
from tasks.files.frames import check
from tasks.files.schemas import QUERIES, SCORES

VERDICT_ROWS = [
    ("baking bread daily", "nurse", "nurse", False, "baker"),
    ("baking bread daily", "pilot", "pilot", False, "baker"),
    ("flies planes", "clerk", "clerk", False, "pilot"),
    ("nurse at night", "nurse", "nurse", True, None),
    ("who knows", "clerk", "clerk", False, None),
]


def corrected() -> pl.DataFrame:
    return corrected_queries(verdicts_of(VERDICT_ROWS))


def scores(values: list[float], test: str = "annotations") -> pl.DataFrame:
    rows = [("s", test, f"q{n}", value, 0.0, 0.0, 0.0) for n, value in enumerate(values)]
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


def test_corrected_strings_are_asked_once() -> None:
    queries = check(corrected(), QUERIES, "corrected")
    assert queries.select("raw_title", "occupation_ids").rows() == [
        ("baking bread daily", ["baker"]),
        ("flies planes", ["pilot"]),
    ]
    assert queries["query_id"].is_unique().all()
    assert set(queries["test"]) == {"corrected"}


def test_reworded_strings_keep_the_gold_and_were_not_trained_on() -> None:
    """Two words have one other order; it is a training string here, so only three words are left.

    Without learned words none are added.
    """
    queries = reworded_queries(corrected(), Superfluous([], []), 0.05, {"planes flies"}, 1)
    check(queries, QUERIES, "reworded")
    assert queries.select("source", "occupation_ids").rows() == [
        ("typo", ["baker"]),
        ("typo", ["pilot"]),
        ("word_order", ["baker"]),
        ("word_left_out", ["baker"]),
    ]


def test_rates_by_hand() -> None:
    """Before 0 0 0 1 1 ½, after 1 0 1 0 1 1; queries 0, 1 and 3 are of corrected occupations.

    Fix rate there: of 0 and 1 (wrong before) one is right now, 1/2. Side effects: of 3 and 4 (right
    before) 3 is wrong now, 1/2; of these 3 alone is of a corrected occupation, 1/1. The tie counts
    as neither.
    """
    before = scores([0, 0, 0, 1, 1, 0.5])
    after = scores([1, 0, 1, 0, 1, 1])
    rates = held_out_rates(before, after, {"q0", "q1", "q3"}, 100, 1)
    assert [(row.test, row.metric, row.value, row.n) for row in rates] == [
        ("annotations/same_occupations", "fix_rate", 0.5, 2),
        ("annotations", "side_effects", 0.5, 2),
        ("annotations/same_occupations", "side_effects", 1.0, 1),
    ]


def test_rates_pair_by_query_and_look_at_held_out_inputs_only() -> None:
    """The rows of the model after in another order, and another test's beside them."""
    before = pl.concat([scores([1, 1, 1]), scores([1, 1, 1], "typos")])
    after = pl.concat([scores([0, 0, 0], "typos"), scores([1, 1, 0])]).reverse()
    (rate,) = held_out_rates(before, after, set(), 100, 1)
    assert (rate.metric, rate.n) == ("side_effects", 3)
    assert rate.value == pytest.approx(1 / 3)
    assert rate.low is not None and rate.high is not None
    assert rate.low <= 1 / 3 <= rate.high


def test_same_occupations() -> None:
    rows = [
        ("q0", "annotations", "test", "a", ["baker", "nurse"], 1, "input"),
        ("q1", "annotations", "test", "b", ["nurse"], 1, "input"),
        ("q2", "typos", "test", "c", ["baker"], 1, "typo"),
    ]
    assert same_occupation_ids(queries_of(rows), corrected()) == {"q0"}
