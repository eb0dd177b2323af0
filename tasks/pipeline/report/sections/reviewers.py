"""Reviewers beside one another: how far they agree, and on which titles they differ.

Two reviewers who answered the same title are a pair; it counts for each occupation, or for
"not_a_job_title", that one of them gave. A reviewer's latest answer to a title counts; labels by
which the pipeline judges itself are a reviewer, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from tasks.pipeline.feedback.feedback_rows.cells import NOT_A_JOB_TITLE
from tasks.pipeline.feedback.reviews import TITLE, latest_reviews
from tasks.pipeline.report.markup import Html, NumberHead, lines, paragraph, table
from tasks.pipeline.report.names import count, counted, share
from tasks.pipeline.report.report_data import ReportData

LABELS, UNNAMED = "labels of inputs", "no name given"
PAIRS = (NumberHead("Answered by two"), NumberHead("Agreed"))
AGREEMENT = (pl.len().alias("pairs"), pl.col("same").mean().alias("agreed"))
LONGEST = 12  # rows of a table of occupations or titles


def reviewers(report_data: ReportData) -> Html:
    """Make the content of section `reviewers`."""
    answers = _latest_answers(report_data.reviews)
    pairs = (
        answers.join(answers, on=TITLE, suffix="_other")
        .filter(pl.col("reviewer") != pl.col("reviewer_other"))
        .with_columns(same=pl.col("answer") == pl.col("answer_other"))
    )
    if pairs.is_empty():
        return paragraph("No title was answered by two reviewers.")
    return lines(
        paragraph(
            "Two reviewers agree on a title if they give it the same occupation, or both call it "
            "not a job title. Every title that both answered counts as a pair, by each one's "
            "latest review."
        ),
        _by_reviewer(answers, pairs),
        *_disagreement(answers, pairs, report_data),
    )


def _latest_answers(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return `normalized, raw_title, reviewer, answer`, one row a reviewer and title."""
    named = pl.when(pl.col("reviewer_id") == "").then(pl.lit(UNNAMED)).otherwise("reviewer_id")
    return latest_reviews(reviews).select(
        TITLE,
        "raw_title",
        pl.when("from_labels").then(pl.lit(LABELS)).otherwise(named).alias("reviewer"),
        pl.col("occupation_id").fill_null(NOT_A_JOB_TITLE).alias("answer"),
    )


def _by_reviewer(answers: pl.DataFrame, pairs: pl.DataFrame) -> Html:
    """Show the titles of each reviewer and the share of pairs in which the other one agrees."""
    frame = (
        answers.group_by("reviewer")
        .agg(titles=pl.len())
        .join(pairs.group_by("reviewer").agg(*AGREEMENT), on="reviewer", how="left")
        .with_columns(pl.col("pairs").fill_null(0))
        .sort("agreed", "reviewer", nulls_last=True)
    )
    rows = [
        (name, count(titles), count(together), "" if agreed is None else share(agreed))
        for name, titles, together, agreed in frame.iter_rows()
    ]
    return table("Agreement by reviewer", ("Reviewer", NumberHead("Titles"), *PAIRS), rows)


def _disagreement(
    answers: pl.DataFrame, pairs: pl.DataFrame, report_data: ReportData
) -> Iterator[Html]:
    """Show the occupations, and then the titles, on which reviewers differ."""
    # both orders of a pair stand in it: one of them for an answer that both gave
    of_answer = pairs.filter(~pl.col("same") | (pl.col("reviewer") < pl.col("reviewer_other")))
    occupations = of_answer.group_by("answer").agg(*AGREEMENT).sort("agreed", "answer")
    doubtful = occupations.filter(pl.col("agreed") < 1)
    if doubtful.is_empty():
        yield paragraph("They agree on every title that two of them answered.")
        return
    rows = [
        (_label(answer, report_data), count(together), share(agreed))
        for answer, together, agreed in doubtful.head(LONGEST).iter_rows()
    ]
    caption = f"Agreement by occupation: {counted(len(doubtful), 'occupation')} with less than all"
    yield table(caption, ("Occupation", *PAIRS), rows)
    differing = _differing(answers)
    titles = [
        (title, "; ".join(f"{a['reviewer']}: {_label(a['answer'], report_data)}" for a in both))
        for title, both in differing.head(LONGEST).iter_rows()
    ]
    caption = f"Different answers: {counted(len(differing), 'title')} answered in two ways"
    yield table(caption, ("Title", "Answers"), titles)


def _differing(answers: pl.DataFrame) -> pl.DataFrame:
    """Return `raw_title, answers` (list of `reviewer, answer`), most reviewers first."""
    return (
        answers.sort("reviewer")
        .group_by(TITLE)
        .agg(
            pl.col("raw_title").min(),
            kinds=pl.col("answer").n_unique(),
            answers=pl.struct("reviewer", "answer"),
        )
        .filter(pl.col("kinds") > 1)
        .sort(pl.col("answers").list.len(), "raw_title", descending=[True, False])
        .select("raw_title", "answers")
    )


def _label(answer: str, report_data: ReportData) -> str:
    return answer if answer == NOT_A_JOB_TITLE else report_data.label(answer)
