"""Who said what of which title, and when: every row of feedback that was taken.

In: schema `OPINIONS`. Out: schema `WORDS`, and of these each reviewer's last word on a title.
"""

from __future__ import annotations

import polars as pl

from tasks.files.schemas import WORDS
from tasks.files.titles import normalized

NO_JOB_TITLE = "no job title"
"""The verdict on a title that has no occupation."""
TITLE = "normalized"


def words(opinions: pl.DataFrame) -> pl.DataFrame:
    """Return schema `WORDS`, sorted: who said what of which title, and when."""
    verdict = pl.col("verdict")
    said = opinions.select(
        "raw_title",
        normalized(opinions["raw_title"]),
        "predicted_occupation_id",
        "verdict",
        pl.when(verdict == "right")
        .then("predicted_occupation_id")
        .when(verdict == "wrong")
        .then("corrected_occupation_id")
        .alias("occupation_id"),
        pl.col("reviewer_id").fill_null(""),
        "judged_at",
        "own",
    )
    return said.select([*WORDS]).sort(TITLE, pl.all().exclude(TITLE), nulls_last=True)


def last_words(said: pl.DataFrame) -> pl.DataFrame:
    """Return of schema `WORDS` each reviewer's last word on a title, if it gives an answer.

    A word without a time is older than any other; who says two things at once has said nothing.
    """
    answers = pl.col("occupation_id").is_not_null() | (pl.col("verdict") == NO_JOB_TITLE)
    at, whose = pl.col("judged_at").fill_null(""), [TITLE, "reviewer_id", "own"]
    latest = said.filter(answers).filter((at == at.max()).over(whose))
    alone = latest.filter(pl.col("occupation_id").n_unique().over(whose) == 1)
    return alone.unique(whose, keep="first", maintain_order=True)
