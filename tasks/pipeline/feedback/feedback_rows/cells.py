"""Cells of one chunk of feedback: verdicts, ids, titles and times as they are meant.

In: the columns of `FEEDBACK` as text. Out: `line, text, fault` and the columns of `READ`. A `'`
before what a spreadsheet would take for a formula is removed (OWASP, "CSV injection").
"""

from __future__ import annotations

import polars as pl

from models.text.titles import clean_title, normalize_title
from tasks.io.schemas import FEEDBACK
from tasks.pipeline.feedback.feedback_rows.dates import moments
from tasks.pipeline.feedback.feedback_rows.occupation_ids import OccupationIds

CORRECT, INCORRECT, NOT_A_JOB_TITLE = "correct", "incorrect", "not_a_job_title"
EARLIER_VERDICTS = {"right": CORRECT, "wrong": INCORRECT, "no_job_title": NOT_A_JOB_TITLE}
"""Words of older files, which are still read."""
GUARD = r"^'([=+\-@\t\r])"
READ = {
    "raw_title": pl.String,
    "has_title": pl.Boolean,  # not empty when normalized
    "verdict": pl.String,  # as given, or as the correction alone implies it
    "from_correction": pl.Boolean,
    "says_nothing": pl.Boolean,
    "predicted": pl.String,  # an occupation of the taxonomy, or null
    "predicted_given": pl.Boolean,
    "predicted_fault": pl.String,  # of its id, or null
    "corrected": pl.String,
    "corrected_given": pl.Boolean,
    "corrected_fault": pl.String,
    "zeros_restored": pl.Boolean,
    "matched": pl.String,  # cleaned
    "model_version": pl.String,
    "reviewer_id": pl.String,
    "at": pl.String,
    "at_fault": pl.String,
}


def read_cells(chunk: pl.DataFrame, occupations: OccupationIds, order: str) -> pl.DataFrame:
    """Return `line, text, fault` and the columns of `READ`.

    `chunk`: of a table with the columns of `FEEDBACK`; `occupations`: of the taxonomy; `order`: of
    day and month where slashes stand between them (`slash_order`).
    """
    frame = chunk.with_columns(
        pl.col("raw_title").str.replace(GUARD, "$1"),  # its white space stays
        *(
            pl.col(name).str.strip_chars().str.replace(GUARD, "$1").str.strip_chars()
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
        zeros_restored=pl.any_horizontal(_restored(frame, occupations)),
        verdict=pl.col("verdict")
        .str.to_lowercase()
        .str.replace_all(r"[\s_]+", "_")
        .replace(EARLIER_VERDICTS),
    )
    return _verdicts(read).select("line", "text", "fault", *READ)


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
    )


def _occupation(frame: pl.DataFrame, name: str, occupations: OccupationIds) -> list[pl.Expr]:
    """Return the columns `NAME`, `NAME_given` and `NAME_fault`."""
    column = f"{name}_occupation_id"
    ids = occupations.look_up(frame[column].unique())
    return [
        _by_text(column, ids.known).alias(name),
        (pl.col(column) != "").alias(f"{name}_given"),
        _by_text(column, ids.faults).alias(f"{name}_fault"),
    ]


def _restored(frame: pl.DataFrame, occupations: OccupationIds) -> list[pl.Expr]:
    columns = ("predicted_occupation_id", "corrected_occupation_id")
    looked_up = {name: occupations.look_up(frame[name].unique()) for name in columns}
    return [pl.col(name).is_in(ids.restored) for name, ids in looked_up.items()]


def _has_title(raw_titles: pl.Series) -> pl.Series:
    """Signs alone are no title; a letter or digit of ASCII is always left, and is quickly seen."""
    plain = raw_titles.str.contains("[0-9A-Za-z]")
    values = [has or bool(normalize_title(raw)) for has, raw in zip(plain, raw_titles, strict=True)]
    return pl.Series("has_title", values, pl.Boolean)


def _by_text(column: str, values: dict[str, str]) -> pl.Expr:
    """Put for each text its value; null where it has none."""
    keys, results = pl.Series(list(values), dtype=pl.String), list(values.values())
    new = pl.Series(results, dtype=pl.String)
    return pl.col(column).replace_strict(keys, new, default=None, return_dtype=pl.String)
