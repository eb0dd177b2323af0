"""Reviewers beside one another: how far they agree, on what they do not, and who said what."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from tasks.pipeline.feedback.reviews import NOT_A_JOB_TITLE
from tasks.pipeline.report.agreement import Agreement, agreement
from tasks.pipeline.report.markup import Html, number, number_head, paragraph, section, table
from tasks.pipeline.report.names import count, counted, share
from tasks.pipeline.report.report_data import ReportData

HEADING = ("reviewers", "Reviewers")
PAIRS = (number_head("Answered by two"), number_head("Agreed"))
SHOWN = 12
"""Occupations, and titles, that are shown."""


def reviewers(report_data: ReportData) -> Html:
    """Make section `reviewers`."""
    found = agreement(report_data.reviews)
    if not found.reviewers["pairs"].sum():
        return section(*HEADING, paragraph("No title was answered by two reviewers."))
    return section(
        *HEADING,
        paragraph(
            "Two reviewers agree on a title if they give it the same occupation, or both call it "
            "no job title. Counted are pairs of reviewers and titles that both answered, by each "
            "one's last word."
        ),
        *_tables(found, report_data),
    )


def _tables(found: Agreement, report_data: ReportData) -> Iterator[Html]:
    rows = [
        (name, number(count(titles)), *_agreed(pairs, agreed))
        for name, titles, pairs, agreed in found.reviewers.iter_rows()
    ]
    yield table("Agreement by reviewer", ("Reviewer", number_head("Titles"), *PAIRS), rows)
    doubtful = found.occupations.filter(pl.col("agreed") < 1)
    if doubtful.is_empty():
        yield paragraph("They agree on every title that two of them answered.")
        return
    lines = [
        (_label(answer, report_data), *_agreed(pairs, agreed))
        for answer, pairs, agreed in doubtful.head(SHOWN).iter_rows()
    ]
    caption = f"Agreement by occupation: {counted(len(doubtful), 'occupation')} with less than all"
    yield table(caption, ("Occupation", *PAIRS), lines)
    said = [
        (
            title,
            "; ".join(f"{one['reviewer']}: {_label(one['answer'], report_data)}" for one in own),
        )
        for title, own in found.differing.head(SHOWN).iter_rows()
    ]
    caption = f"Who said what: {counted(len(found.differing), 'title')} answered in two ways"
    yield table(caption, ("Title", "Answers"), said)


def _agreed(pairs: int, agreed: float | None) -> tuple[Html, Html]:
    return number(count(pairs)), number("" if agreed is None else share(agreed))


def _label(answer: str, report_data: ReportData) -> str:
    return answer if answer == NOT_A_JOB_TITLE else report_data.label(answer)
