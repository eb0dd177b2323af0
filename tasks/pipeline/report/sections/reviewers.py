"""Reviewers beside one another: how far they agree, and on which titles they differ.

Two reviewers who answered the same title are a pair; it counts for each occupation, or for
"not_a_job_title", that one of them gave. A reviewer's latest answer to a title counts; labels by
which the pipeline judges itself are a reviewer, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from tasks.pipeline.feedback.reviews import NOT_A_JOB_TITLE, TITLE, latest_reviews
from tasks.pipeline.report.markup import Html, number, number_head, paragraph, section, table
from tasks.pipeline.report.names import count, counted, share
from tasks.pipeline.report.report_data import ReportData

LABELS, UNNAMED = "labels of inputs", "no name given"
HEADING = ("reviewers", "Reviewers")
PAIRS = (number_head("Answered by two"), number_head("Agreed"))
SHOWN = 12  # occupations, and titles, that are shown


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
    """Compare the latest answers of reviewers to each title."""
    answers = _latest_answers(reviews)
    pairs = answers.join(answers, on=TITLE, suffix="_other").filter(
        pl.col("reviewer") != pl.col("reviewer_other")
    )
    same = pairs.with_columns(same=pl.col("answer") == pl.col("answer_other"))
    shared = (pl.len().alias("pairs"), pl.col("same").mean().alias("agreed"))
    titles = answers.group_by("reviewer").agg(titles=pl.len())
    reviewers = (
        titles.join(same.group_by("reviewer").agg(*shared), on="reviewer", how="left")
        .with_columns(pl.col("pairs").fill_null(0))
        .sort("agreed", "reviewer", nulls_last=True)
    )
    # both orders of a pair stand in it: one of them for an answer that both gave
    of_answer = same.filter(~pl.col("same") | (pl.col("reviewer") < pl.col("reviewer_other")))
    occupations = of_answer.group_by("answer").agg(*shared).sort("agreed", "answer")
    return Agreement(reviewers, occupations, _differing(answers))


def _latest_answers(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return `normalized, raw_title, reviewer, answer`, one row a reviewer and title."""
    named = pl.when(pl.col("reviewer_id") == "").then(pl.lit(UNNAMED)).otherwise("reviewer_id")
    return latest_reviews(reviews).select(
        TITLE,
        "raw_title",
        pl.when("from_labels").then(pl.lit(LABELS)).otherwise(named).alias("reviewer"),
        pl.col("occupation_id").fill_null(NOT_A_JOB_TITLE).alias("answer"),
    )


def _differing(answers: pl.DataFrame) -> pl.DataFrame:
    rows = (
        answers.sort("reviewer")
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


def reviewers(report_data: ReportData) -> Html:
    """Make section `reviewers`."""
    compared = agreement(report_data.reviews)
    if not compared.reviewers["pairs"].sum():
        return section(*HEADING, paragraph("No title was answered by two reviewers."))
    return section(
        *HEADING,
        paragraph(
            "Two reviewers agree on a title if they give it the same occupation, or both call it "
            "not a job title. Every title that both answered counts as a pair, by each one's "
            "latest review."
        ),
        *_tables(compared, report_data),
    )


def _tables(compared: Agreement, report_data: ReportData) -> Iterator[Html]:
    rows = [
        (name, number(count(titles)), *_agreed(pairs, agreed))
        for name, titles, pairs, agreed in compared.reviewers.iter_rows()
    ]
    yield table("Agreement by reviewer", ("Reviewer", number_head("Titles"), *PAIRS), rows)
    doubtful = compared.occupations.filter(pl.col("agreed") < 1)
    if doubtful.is_empty():
        yield paragraph("They agree on every title that two of them answered.")
        return
    lines = [
        (_label(answer, report_data), *_agreed(pairs, agreed))
        for answer, pairs, agreed in doubtful.head(SHOWN).iter_rows()
    ]
    caption = f"Agreement by occupation: {counted(len(doubtful), 'occupation')} with less than all"
    yield table(caption, ("Occupation", *PAIRS), lines)
    answers = [
        (
            title,
            "; ".join(f"{one['reviewer']}: {_label(one['answer'], report_data)}" for one in own),
        )
        for title, own in compared.differing.head(SHOWN).iter_rows()
    ]
    caption = f"Different answers: {counted(len(compared.differing), 'title')} answered in two ways"
    yield table(caption, ("Title", "Answers"), answers)


def _agreed(pairs: int, agreed: float | None) -> tuple[Html, Html]:
    return number(count(pairs)), number("" if agreed is None else share(agreed))


def _label(answer: str, report_data: ReportData) -> str:
    return answer if answer == NOT_A_JOB_TITLE else report_data.label(answer)
