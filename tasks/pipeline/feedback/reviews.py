"""Who said what of which title, and when: every row of feedback that was taken.

In: schema `FEEDBACK_ROWS`. Out: schema `REVIEWS`, and of these each reviewer's last word on a title.
"""

from __future__ import annotations

import polars as pl

from tasks.io.schemas import REVIEWS
from tasks.io.title_readings import normalized

NOT_A_JOB_TITLE = "not_a_job_title"
"""The verdict on a title that has no occupation."""
TITLE = "normalized"


def reviews(feedback_rows: pl.DataFrame) -> pl.DataFrame:
    """Return schema `REVIEWS`, sorted: who said what of which title, and when."""
    verdict = pl.col("verdict")
    said = feedback_rows.select(
        "raw_title",
        normalized(feedback_rows["raw_title"]),
        "predicted_occupation_id",
        "verdict",
        pl.when(verdict == "correct")
        .then("predicted_occupation_id")
        .when(verdict == "incorrect")
        .then("corrected_occupation_id")
        .alias("occupation_id"),
        pl.col("reviewer_id").fill_null(""),
        "judged_at",
        "from_labels",
    )
    return said.select([*REVIEWS]).sort(TITLE, pl.all().exclude(TITLE), nulls_last=True)


def latest_reviews(said: pl.DataFrame) -> pl.DataFrame:
    """Return of schema `REVIEWS` each reviewer's last word on a title, if it gives an answer.

    A word without a time is older than any other; who says two things at once has said nothing.
    """
    answers = pl.col("occupation_id").is_not_null() | (pl.col("verdict") == NOT_A_JOB_TITLE)
    at, whose = pl.col("judged_at").fill_null(""), [TITLE, "reviewer_id", "from_labels"]
    latest = said.filter(answers).filter((at == at.max()).over(whose))
    alone = latest.filter(pl.col("occupation_id").n_unique().over(whose) == 1)
    return alone.unique(whose, keep="first", maintain_order=True)
