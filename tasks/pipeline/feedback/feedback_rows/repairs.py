"""Usable rows of feedback as schema `FEEDBACK_ROWS`, and how often each repair was needed.

A corrected occupation that the taxonomy does not have is dropped beside `incorrect`, and a
predicted one beside `not_a_job_title`, which judges the title alone. The label replaces a matched
title that is none of the predicted occupation's titles in the index. A correction without a
prediction becomes `correct` of the corrected occupation.
"""

from __future__ import annotations

import polars as pl

from tasks.io.schemas import FEEDBACK
from tasks.pipeline.feedback.feedback_rows.cells import ABSTAINED, ANSWERED, CORRECT, INCORRECT
from tasks.pipeline.feedback.feedback_rows.occupation_ids import OccupationIds

REPAIRS = {
    "unknown_correction": pl.col("corrected_given") & pl.col("corrected").is_null(),
    "matched_title_replaced": pl.col("owned").is_null() & pl.col("predicted").is_not_null(),
    "answered_without_prediction": pl.col("answers"),
    "verdict_from_correction": pl.col("from_correction"),
    "leading_zeros_restored": pl.col("zeros_restored"),
    "unknown_prediction": pl.col("predicted_given") & pl.col("predicted").is_null(),
}
"""Repairs, and the rows that need them."""


def repair(taken: pl.DataFrame, occupations: OccupationIds) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return faultless rows with all columns but `from_labels`, and the counts of `REPAIRS`."""
    incorrect = pl.col("verdict") == INCORRECT
    rows = taken.with_columns(answers=~pl.col("predicted_given") & incorrect).join(
        occupations.owned, on=["predicted", "matched"], how="left", maintain_order="left"
    )
    counts = rows.select(needed.sum().alias(name) for name, needed in REPAIRS.items())
    served = _word("served")
    is_served = (served == ABSTAINED) | (pl.col("predicted_given") & (served == ANSWERED))
    predicted = pl.when("answers").then("corrected").otherwise("predicted")
    label = predicted.replace_strict(occupations.labels, default=None, return_dtype=pl.String)
    repaired = rows.with_columns(
        predicted_occupation_id=predicted,
        matched_title=pl.when("owned").then("matched").otherwise(label),
        corrected_occupation_id=pl.when(incorrect & ~pl.col("answers")).then("corrected"),
        verdict=pl.when("answers").then(pl.lit(CORRECT)).otherwise("verdict"),
        judged_at="at",
        chosen_by=_word("chosen_by"),
        served=pl.when(is_served).then(served),
    )
    columns = (*FEEDBACK, "chosen_by", "served")
    repaired = repaired.select(
        pl.when(pl.col(name) != "").then(name).alias(name) for name in columns
    )
    return repaired, counts.row(0, named=True)


def _word(column: str) -> pl.Expr:
    return pl.col(column).str.strip_chars().str.to_lowercase()
