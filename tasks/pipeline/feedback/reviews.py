"""Reviews: every accepted row of feedback with its reviewer and date, and the overrides they make.

An override is the one correct occupation of a judged title, which a registered model answers, or
an occupation that it does not answer, because people called it incorrect and gave no other. No test
uses overrides, so titles of queries are among them. A title has no occupation if more reviewers
call it not a job title than give it one; at a tie it has no override.
"""

from __future__ import annotations

import polars as pl

from tasks.io.title_readings import normalized
from tasks.pipeline.feedback.feedback_rows.cells import CORRECT, INCORRECT, NOT_A_JOB_TITLE

TITLE = "normalized"


def reviews(feedback_rows: pl.DataFrame) -> pl.DataFrame:
    """Return schema `REVIEWS` of schema `FEEDBACK_ROWS`, sorted."""
    verdict = pl.col("verdict")
    rows = feedback_rows.select(
        "raw_title",
        normalized(feedback_rows["raw_title"]),
        "predicted_occupation_id",
        "verdict",
        pl.when(verdict == CORRECT)
        .then("predicted_occupation_id")
        .when(verdict == INCORRECT)
        .then("corrected_occupation_id")
        .alias("occupation_id"),
        pl.col("reviewer_id").fill_null(""),
        "judged_at",
        "chosen_by",
        "model_version",
        "served",
        "from_labels",
    )
    return rows.sort(TITLE, pl.all().exclude(TITLE), nulls_last=True)


def latest_reviews(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each reviewer's latest review of a title (schema `REVIEWS`), if it gives an answer.

    A review without a time is older than any other. Two answers at once count as none.
    """
    answers = pl.col("occupation_id").is_not_null() | (pl.col("verdict") == NOT_A_JOB_TITLE)
    at, whose = pl.col("judged_at").fill_null(""), [TITLE, "reviewer_id", "from_labels"]
    latest = rows.filter(answers).filter((at == at.max()).over(whose))
    alone = latest.filter(pl.col("occupation_id").n_unique().over(whose) == 1)
    return alone.unique(whose, keep="first", maintain_order=True)


def overrides(outcomes: pl.DataFrame, reviews: pl.DataFrame, aliases: pl.DataFrame) -> pl.DataFrame:
    """Return schema `OVERRIDES`, sorted.

    `outcomes`: schema `OUTCOMES`, of all titles; `reviews`: schema `REVIEWS`. A review without a
    predicted occupation judges the title alone. The taxonomy's own titles (`aliases`, schema
    `SPLIT_ALIASES`) are job titles, whoever says otherwise.
    """
    answers = outcomes.drop_nulls("occupation_id").select(TITLE, "occupation_id").unique()
    voices = (
        latest_reviews(reviews.filter(~pl.col("from_labels")))
        .group_by(TITLE)
        .agg(
            none=(pl.col("verdict") == NOT_A_JOB_TITLE).sum(),
            some=pl.col("occupation_id").is_not_null().sum(),
        )
        .filter((pl.col("none") > 0) & ~pl.col(TITLE).is_in(aliases["normalized"].to_list()))
    )
    none = voices.filter(pl.col("none") > pl.col("some"))
    doubtful = voices.filter(pl.col("none") >= pl.col("some"))
    wrong = outcomes.filter(pl.col("occupation_id").is_null(), resolution="incorrect")
    rejected = wrong.select(TITLE, occupation_id="predicted_occupation_id").unique()
    rows = [
        (answers.join(doubtful, on=TITLE, how="anti"), True),
        (none.select(TITLE, occupation_id=pl.lit(None, pl.String)), True),
        (rejected.join(doubtful, on=TITLE, how="anti"), False),
    ]
    marked = [frame.with_columns(correct=pl.lit(correct)) for frame, correct in rows]
    return pl.concat(marked).sort(TITLE, "occupation_id")
