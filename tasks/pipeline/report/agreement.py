"""How far reviewers agree, by pairs of them that answered the same title.

In: schema `REVIEWS`. Out: frames of shares of these pairs that gave the same answer, an occupation or
"not_a_job_title", by reviewer and by occupation (a pair counts for each occupation that one of the two
gave), and the titles on which they differ. A reviewer's last word on a title counts; labels that
judge the pipeline's own file are a reviewer, too.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from tasks.pipeline.feedback.reviews import NOT_A_JOB_TITLE, TITLE, latest_reviews

OWN = "labels of inputs"
UNNAMED = "no name given"


class Agreement(NamedTuple):
    """Frames, the lowest agreement first.

    `reviewers`: `reviewer, titles` (answered)`, pairs, agreed` (a share; null without pairs).
    `occupations`: `answer` (an occupation_id, or "not_a_job_title")`, pairs, agreed`.
    `differing`: `raw_title, answers` (list of `reviewer, answer`), most reviewers first.
    """

    reviewers: pl.DataFrame
    occupations: pl.DataFrame
    differing: pl.DataFrame


def agreement(reviews: pl.DataFrame) -> Agreement:
    """Compare what reviewers said last of each title."""
    said = _answers(reviews)
    pairs = said.join(said, on=TITLE, suffix="_other").filter(
        pl.col("reviewer") != pl.col("reviewer_other")
    )
    same = pairs.with_columns(same=pl.col("answer") == pl.col("answer_other"))
    shared = (pl.len().alias("pairs"), pl.col("same").mean().alias("agreed"))
    titles = said.group_by("reviewer").agg(titles=pl.len())
    reviewers = (
        titles.join(same.group_by("reviewer").agg(*shared), on="reviewer", how="left")
        .with_columns(pl.col("pairs").fill_null(0))
        .sort("agreed", "reviewer", nulls_last=True)
    )
    # both orders of a pair stand in it: one of them for an answer that both gave
    of_answer = same.filter(~pl.col("same") | (pl.col("reviewer") < pl.col("reviewer_other")))
    occupations = of_answer.group_by("answer").agg(*shared).sort("agreed", "answer")
    return Agreement(reviewers, occupations, _differing(said))


def _answers(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return `normalized, raw_title, reviewer, answer`, one row a reviewer and title."""
    named = pl.when(pl.col("reviewer_id") == "").then(pl.lit(UNNAMED)).otherwise("reviewer_id")
    return latest_reviews(reviews).select(
        TITLE,
        "raw_title",
        pl.when("from_labels").then(pl.lit(OWN)).otherwise(named).alias("reviewer"),
        pl.col("occupation_id").fill_null(NOT_A_JOB_TITLE).alias("answer"),
    )


def _differing(said: pl.DataFrame) -> pl.DataFrame:
    rows = (
        said.sort("reviewer")
        .group_by(TITLE)
        .agg(
            pl.col("raw_title").min(),
            kinds=pl.col("answer").n_unique(),
            answers=pl.struct("reviewer", "answer"),
        )
    )
    several = rows.filter(pl.col("kinds") > 1)
    ranked = several.sort(pl.col("answers").list.len(), "raw_title", descending=[True, False])
    return ranked.select("raw_title", "answers")
