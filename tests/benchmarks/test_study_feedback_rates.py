"""Corrected strings and side effects with their arithmetic, and who is asked."""

from __future__ import annotations

import polars as pl
import pytest
from frames_of import verdicts_of

from benchmarks.studies.feedback.rates import (
    corrected_queries,
    reworded_queries,
    side_effects,
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


def test_side_effects_by_hand() -> None:
    """Before 0 1 1 ½: of the two that were right one is wrong now, 1/2; the tie counts as neither.

    With a second seed in which the other one is broken too, the first is broken in one of two: of
    its queries 1, which was right once, is kept, 2 is broken in both and 0 broken: (0 + 1 + 1) / 3.
    """
    before, after = scores([0, 1, 1, 0.5]), scores([1, 1, 0, 1])
    (rate,) = side_effects("x", {1: before}, {1: after}, 100, 1)
    assert (rate.test, rate.metric, rate.value, rate.n) == ("annotations", "side_effects", 0.5, 2)
    several = {1: before, 2: scores([1, 0, 1, 0])}, {1: after, 2: scores([0, 0, 0, 0])}
    (rate,) = side_effects("x", *several, 100, 1)
    assert (rate.value, rate.n) == (pytest.approx(2 / 3), 3)


def test_side_effects_pair_by_query_and_look_at_held_out_inputs_only() -> None:
    """The rows of the model after in another order, and another test's beside them."""
    before = pl.concat([scores([1, 1, 1]), scores([1, 1, 1], "typos")])
    after = pl.concat([scores([0, 0, 0], "typos"), scores([1, 1, 0])]).reverse()
    (rate,) = side_effects("x", {1: before}, {1: after}, 100, 1)
    assert (rate.metric, rate.n) == ("side_effects", 3)
    assert rate.value == pytest.approx(1 / 3)
    assert rate.low is not None and rate.high is not None
    assert rate.low <= 1 / 3 <= rate.high


def test_nothing_right_gives_no_side_effects() -> None:
    assert not list(side_effects("x", {1: scores([0])}, {1: scores([1])}, 100, 1))
