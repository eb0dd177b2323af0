"""Cells of one chunk of feedback: verdicts, ids, titles and times as they are meant.

A `'` before what a spreadsheet would take for a formula is removed (`tasks/io/formulas.py`).
"""

from __future__ import annotations

import polars as pl

from models.text.titles import clean_title, normalize_title
from tasks.io.formulas import unguarded
from tasks.io.schemas import FEEDBACK
from tasks.pipeline.feedback.feedback_rows.dates import moments
from tasks.pipeline.feedback.feedback_rows.occupation_ids import OccupationIds

CORRECT, INCORRECT, NOT_A_JOB_TITLE = "correct", "incorrect", "not_a_job_title"
COVERAGE, RANDOM, DISPUTED = "coverage", "random", "disputed"
"""How a review queue chose a title: for all that it speaks for, as that of a random row, or because
two models answer it differently."""
ANSWERED, ABSTAINED = "answered", "abstained"
"""How the run that a queue was made of served a title: with the prediction, or with nothing."""
EARLIER_VERDICTS = {"right": CORRECT, "wrong": INCORRECT, "no_job_title": NOT_A_JOB_TITLE}
"""Words of older files, which are still read."""


def read_cells(chunk: pl.DataFrame, occupations: OccupationIds, order: str) -> pl.DataFrame:
    """Return `chunk`, of a table with the columns of `FEEDBACK` as text, with columns for faults.

    `order` is that of day and month where slashes stand between them (`slash_order`). Added are
    `has_title` (not empty when normalized), `says_nothing`, `from_correction` (the correction alone
    implies the verdict), `matched` (cleaned), `at, at_fault, zeros_restored`, and for `predicted`
    and `corrected` the occupation of the taxonomy or null, whether it is `_given`, the `_fault` of
    its id or null, and whether its zeros are `_restored`.
    """
    frame = chunk.with_columns(
        unguarded(chunk["raw_title"]),  # its white space stays
        *(
            unguarded(chunk[name].str.strip_chars()).str.strip_chars()
            for name in FEEDBACK
            if name != "raw_title"
        ),
    )
    times, bad_times = moments(frame["judged_at"], order)
    matched = {title: clean_title(title) for title in frame["matched_title"].unique()}
    read = frame.with_columns(
        *_occupation(frame, "predicted", occupations),
        *_occupation(frame, "corrected", occupations),
        _has_title(frame["raw_title"]),
        _by_text("matched_title", matched).alias("matched"),
        _by_text("judged_at", times).alias("at"),
        _by_text("judged_at", bad_times).alias("at_fault"),
        verdict=pl.col("verdict")
        .str.to_lowercase()
        .str.replace_all(r"[\s_]+", "_")
        .replace(EARLIER_VERDICTS),
    )
    return _verdicts(read)


def _verdicts(read: pl.DataFrame) -> pl.DataFrame:
    """Read a verdict from the correction if a person filled in nothing else."""
    silent, implied = pl.col("verdict") == "", pl.col("corrected_given")
    same = pl.col("corrected") == pl.col("predicted")
    return read.with_columns(
        says_nothing=silent & ~implied,
        from_correction=silent & implied,
        verdict=pl.when(silent & implied)
        .then(pl.when(same).then(pl.lit(CORRECT)).otherwise(pl.lit(INCORRECT)))
        .otherwise("verdict"),
        zeros_restored=pl.any_horizontal("predicted_restored", "corrected_restored"),
    )


def _occupation(frame: pl.DataFrame, name: str, occupations: OccupationIds) -> list[pl.Expr]:
    """Return the columns `NAME`, `NAME_given`, `NAME_fault` and `NAME_restored`."""
    column = f"{name}_occupation_id"
    ids = occupations.look_up(frame[column].unique())
    return [
        _by_text(column, ids.known).alias(name),
        (pl.col(column) != "").alias(f"{name}_given"),
        _by_text(column, ids.faults).alias(f"{name}_fault"),
        pl.col(column).is_in(ids.restored).alias(f"{name}_restored"),
    ]


def _has_title(raw_titles: pl.Series) -> pl.Series:
    """Signs alone are no title; a letter or digit of ASCII is always left, and is quickly seen."""
    plain = raw_titles.str.contains("[0-9A-Za-z]")
    values = [has or bool(normalize_title(raw)) for has, raw in zip(plain, raw_titles, strict=True)]
    return pl.Series("has_title", values, pl.Boolean)


def _by_text(column: str, values: dict[str, str]) -> pl.Expr:
    """Put for each text its value; null where it has none."""
    return pl.col(column).replace_strict(values, default=None, return_dtype=pl.String)
