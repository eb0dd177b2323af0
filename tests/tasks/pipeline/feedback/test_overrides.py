"""Reviews and overrides worked by hand: whose verdict counts, and whose does not."""

from __future__ import annotations

import polars as pl
import pytest
from frames_of import aliases_of

from tasks.io.schemas import FEEDBACK_ROWS, OVERRIDES, REVIEWS
from tasks.pipeline.feedback.reviews import latest_reviews, overrides, reviews
from tasks.pipeline.feedback.verdicts import resolve

ALIASES = aliases_of([("cook", "Cook", True, "train"), ("nurse", "Nurse", True, "train")])
EARLY, LATE = "2026-01-01", "2026-02-01"
NONE = "not_a_job_title"


def feedback_rows(*rows: tuple[str, str | None, str, str | None, str, str, bool]) -> pl.DataFrame:
    """Rows of (raw title, predicted, verdict, corrected, reviewer, when, own)."""
    return pl.DataFrame(
        [
            (raw, predicted, predicted or "", "v", verdict, corrected, who, at, None, None, own)
            for raw, predicted, verdict, corrected, who, at, own in rows
        ],
        schema=dict(FEEDBACK_ROWS),
        orient="row",
    )


def made_of(*rows: tuple[str, str | None, str, str | None, str, str, bool]) -> pl.DataFrame:
    frame = feedback_rows(*rows)
    outcomes = resolve(frame.drop_nulls("predicted_occupation_id"), ALIASES, ()).outcomes
    made = overrides(outcomes, reviews(frame), ALIASES)
    assert dict(made.schema) == OVERRIDES and made["normalized"].is_sorted()
    return made


def answers(
    *rows: tuple[str, str | None, str, str | None, str, str, bool],
) -> dict[str, str | None]:
    return dict(made_of(*rows).filter("correct").drop("correct").iter_rows())


def rejected(
    *rows: tuple[str, str | None, str, str | None, str, str, bool],
) -> list[tuple[str, str]]:
    return made_of(*rows).filter(~pl.col("correct")).drop("correct").rows()


def test_an_answer_is_what_was_confirmed_or_corrected() -> None:
    assert answers(
        ("Fry cook!", "cook", "correct", None, "ann", EARLY, False),
        ("ward sister", "cook", "incorrect", "nurse", "ann", EARLY, False),
        ("helper", "cook", "incorrect", None, "ann", EARLY, False),
        ("by its label", "cook", "incorrect", "nurse", "labels", EARLY, True),
    ) == {"by its label": "nurse", "fry cook": "cook", "ward sister": "nurse"}


def test_an_incorrect_answer_without_a_better_one_is_rejected() -> None:
    """Several of one title; none where the title has an answer, or is one of the taxonomy."""
    assert rejected(
        ("Helper!", "cook", "incorrect", None, "ann", EARLY, False),
        ("helper", "nurse", "incorrect", None, "bob", EARLY, False),
        ("sister", "cook", "incorrect", None, "ann", EARLY, False),
        ("sister", "nurse", "correct", None, "bob", EARLY, False),
        ("Cook", "cook", "incorrect", None, "ann", EARLY, False),
        ("see below", "cook", NONE, None, "ann", EARLY, False),
    ) == [("helper", "cook"), ("helper", "nurse")]


def test_whoever_speaks_last_decides_what_is_rejected() -> None:
    wrong = ("x", "cook", "incorrect", None, "ann")
    right = ("x", "cook", "correct", None, "bob")
    assert rejected((*wrong, LATE, False), (*right, EARLY, False)) == [("x", "cook")]
    assert rejected((*wrong, EARLY, False), (*right, LATE, False)) == []
    none = ("x", "cook", NONE, None, "ann")
    assert rejected((*none, LATE, False), (*right, EARLY, False)) == [], "a tie fixes nothing"


@pytest.mark.parametrize(
    ("ann", "bob", "answer"),
    [
        ((NONE, None, EARLY), None, {"x": None}),
        ((NONE, None, EARLY), (NONE, None, LATE), {"x": None}),
        ((NONE, None, EARLY), ("correct", None, LATE), {}),  # a tie, whoever spoke last
        (("correct", None, EARLY), (NONE, None, LATE), {}),
        (("incorrect", None, EARLY), (NONE, None, LATE), {"x": None}),  # ann gave no answer
        (("incorrect", "nurse", EARLY), ("incorrect", "nurse", LATE), {"x": "nurse"}),
    ],
    ids=["alone", "two", "tie", "tie_again", "no_answer", "agreed"],
)
def test_no_job_title_against_others(
    ann: tuple[str, str | None, str], bob: tuple[str, str | None, str] | None, answer: dict
) -> None:
    said = [("X", "cook", *ann[:2], "ann", ann[2], False)]
    said += [("x", "cook", *bob[:2], "bob", bob[2], False)] if bob else []
    assert answers(*said) == answer


def test_two_against_one_and_a_change_of_mind() -> None:
    none = ("x", "cook", NONE, None)
    two = [(*none, who, EARLY, False) for who in ("ann", "bob")]
    assert answers(*two, ("x", "cook", "correct", None, "cid", LATE, False)) == {"x": None}
    changed = ("x", "cook", "correct", None, "ann", LATE, False)
    assert answers(*two, changed, ("x", "cook", "correct", None, "cid", LATE, False)) == {
        "x": "cook"
    }
    assert answers((*none, "ann", EARLY, False), changed) == {"x": "cook"}


def test_the_taxonomy_keeps_its_titles_and_labels_call_nothing_none() -> None:
    assert answers(("Cook", "cook", NONE, None, "ann", EARLY, False)) == {}
    assert answers(("cook", "cook", "incorrect", "nurse", "ann", EARLY, False)) == {}


def test_a_title_without_a_prediction() -> None:
    assert answers(("see below", None, NONE, None, "ann", EARLY, False)) == {"see below": None}


def test_words_are_every_row_and_the_last_ones_those_that_hold() -> None:
    said = reviews(
        feedback_rows(
            ("x", "cook", "incorrect", "nurse", "ann", LATE, False),
            ("X!", "cook", "correct", None, "ann", EARLY, False),
            ("x", "cook", "correct", None, "bob", LATE, False),
            ("x", "nurse", "correct", None, "bob", LATE, False),  # says two things at once
            ("x", "cook", "incorrect", None, "cid", LATE, False),
        )
    )
    assert dict(said.schema) == REVIEWS and len(said) == 5
    assert said.sample(fraction=1, shuffle=True, seed=1).pipe(latest_reviews).select(
        "normalized", "occupation_id", "reviewer_id"
    ).rows() == [("x", "nurse", "ann")]
