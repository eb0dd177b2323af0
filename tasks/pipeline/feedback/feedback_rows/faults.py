"""Why a row of feedback cannot be used: the first reason that holds.

A reason says what is wrong and mostly what to write instead. It holds no value of the row, so that
equal faults are counted as one; the row's text stands beside it.
"""

from __future__ import annotations

import polars as pl

from tasks.pipeline.feedback.feedback_rows.cells import CORRECT, INCORRECT, NOT_A_JOB_TITLE
from tasks.pipeline.feedback.feedback_rows.occupation_ids import REWRITTEN_ID
from tasks.tables.rejected import NOT_ANSWERED, UNKNOWN_OCCUPATION, empty

BAD_VERDICT = "verdict is unknown: write correct, incorrect or not_a_job_title"
CORRECT_YET_CORRECTED = "correct, yet corrected to another occupation: write incorrect, or empty it"
INCORRECT_YET_CONFIRMED = (
    "incorrect, yet corrected to the predicted occupation: write correct, or another"
)
NO_TITLE_YET_CORRECTED = (
    "not_a_job_title, yet corrected to an occupation: write incorrect, or empty it"
)
NO_PREDICTION = (
    "predicted_occupation_id is empty: write the correct one into corrected_occupation_id, and "
    "incorrect, or not_a_job_title"
)


def fault() -> pl.Expr:
    """Name the reason to refuse a row of `read_cells`; null if there is none."""
    verdict = pl.col("verdict")
    predicted, corrected = pl.col("predicted").is_not_null(), pl.col("corrected").is_not_null()
    confirmed = pl.col("corrected").eq_missing(pl.col("predicted"))
    ids = pl.concat_list("predicted_fault", "corrected_fault")
    # an unknown correction matters if the verdict depends on it alone
    correction_is_all = pl.col("from_correction") | ~pl.col("predicted_given")
    unknown = (pl.col("predicted_given") & ~predicted) | (correction_is_all & ~corrected)
    corrected_given, of_prediction = pl.col("corrected_given"), verdict != NOT_A_JOB_TITLE
    reasons = {
        NOT_ANSWERED: pl.col("says_nothing"),
        empty("raw_title"): ~pl.col("has_title"),
        BAD_VERDICT: ~verdict.is_in([CORRECT, INCORRECT, NOT_A_JOB_TITLE]),
        NO_TITLE_YET_CORRECTED: ~of_prediction & corrected_given,
        REWRITTEN_ID: of_prediction & ids.list.contains(REWRITTEN_ID),
        NO_PREDICTION: of_prediction
        & ~pl.col("predicted_given")
        & ~((verdict == INCORRECT) & corrected_given),
        UNKNOWN_OCCUPATION: of_prediction & unknown,
        CORRECT_YET_CORRECTED: (verdict == CORRECT) & corrected_given & ~confirmed,
        INCORRECT_YET_CONFIRMED: (verdict == INCORRECT) & corrected_given & predicted & confirmed,
    }
    cases = [pl.when(holds).then(pl.lit(reason)) for reason, holds in reasons.items()]
    return pl.coalesce("fault", *cases, "at_fault")
