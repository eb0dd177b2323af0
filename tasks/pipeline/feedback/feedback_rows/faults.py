"""Why a row of feedback cannot be used: one reason a row, the first that holds.

Each reason says what is wrong, and most what to write instead; the row's text, which stands beside
it wherever it is shown, has the value. A reason holds no value of its own, so that equal faults
are counted as one.
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
    "predicted_occupation_id is empty: write the right one into corrected_occupation_id, and "
    "incorrect, or not_a_job_title"
)


def fault() -> pl.Expr:
    """Name the reason to refuse a row of `READ`; null if there is none."""
    said = pl.col("verdict")
    known, corrected = pl.col("predicted").is_not_null(), pl.col("corrected").is_not_null()
    confirmed = pl.col("corrected").eq_missing(pl.col("predicted"))
    given, of_prediction = pl.col("corrected_given"), said != NOT_A_JOB_TITLE
    reasons = {
        NOT_ANSWERED: pl.col("says_nothing"),
        empty("raw_title"): ~pl.col("has_title"),
        BAD_VERDICT: ~said.is_in([CORRECT, INCORRECT, NOT_A_JOB_TITLE]),
        NO_TITLE_YET_CORRECTED: ~of_prediction & given,
        REWRITTEN_ID: of_prediction & _rewritten(),
        NO_PREDICTION: of_prediction & ~pl.col("predicted_given") & ~((said == INCORRECT) & given),
        UNKNOWN_OCCUPATION: of_prediction & _unknown(known, corrected),
        CORRECT_YET_CORRECTED: (said == CORRECT) & given & ~confirmed,
        INCORRECT_YET_CONFIRMED: (said == INCORRECT) & given & known & confirmed,
    }
    found = [pl.when(holds).then(pl.lit(reason)) for reason, holds in reasons.items()]
    return pl.coalesce("fault", *found, "at_fault")


def _rewritten() -> pl.Expr:
    ids = pl.concat_list("predicted_fault", "corrected_fault")
    return ids.list.contains(REWRITTEN_ID)


def _unknown(known: pl.Expr, corrected: pl.Expr) -> pl.Expr:
    """Without a prediction, or a verdict in words, the correction is all that is said."""
    correction_is_all = pl.col("from_correction") | ~pl.col("predicted_given")
    return (pl.col("predicted_given") & ~known) | (correction_is_all & ~corrected)
