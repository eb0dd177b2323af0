"""The page around the sections: one file with its style inside; no script, nothing from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tasks.pipeline.report.markup import Html, lines, section, tag
from tasks.pipeline.report.report_data import ReportData
from tasks.pipeline.report.sections.confidence import confidence
from tasks.pipeline.report.sections.confusions import confusions
from tasks.pipeline.report.sections.coverage import coverage
from tasks.pipeline.report.sections.feedback import feedback
from tasks.pipeline.report.sections.learning import learning
from tasks.pipeline.report.sections.overview import data, headline
from tasks.pipeline.report.sections.results import results
from tasks.pipeline.report.sections.reviewers import reviewers
from tasks.pipeline.report.sections.weeks import weeks

STYLE = Path(__file__).with_name("page.css")
SECTIONS: dict[str, tuple[str, Callable[[ReportData], Html]]] = {
    "results": ("Results", results),
    "coverage": ("Accuracy against coverage", coverage),
    "confidence": ("Confidence and accuracy", confidence),
    "confusions": ("Worst occupations and confusions", confusions),
    "learning": ("Learning curves", learning),
    "feedback": ("Feedback", feedback),
    "weeks": ("Week by week", weeks),
    "reviewers": ("Reviewers", reviewers),
    "data": ("The data", data),
}
"""Heading and content by anchor."""
LINKS = {"coverage": "Coverage", "confidence": "Confidence", "confusions": "Confusions"}
"""Words of a link that are not the heading."""
NAVIGATION = '<nav aria-label="Sections"><ul>'
MAIN = "<main>"  # where further links and sections are put in


def report(report_data: ReportData) -> bytes:
    """Write the whole document as UTF-8; equal data give equal bytes."""
    names = {anchor: heading for anchor, (heading, _) in SECTIONS.items()} | LINKS
    links = [_link(anchor, name) for anchor, name in names.items()]
    head = tag(
        "header",
        tag("h1", "Rolecall: from raw titles to occupations"),
        headline(report_data),
        tag("nav", tag("ul", *links), aria_label="Sections"),
    )
    sections = [
        section(anchor, heading, content(report_data))
        for anchor, (heading, content) in SECTIONS.items()
    ]
    main = tag("main", lines(*sections))
    style = STYLE.read_text(encoding="utf-8")
    document = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Rolecall, mix {report_data.trained}: report</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n{head}\n{main}\n</body>\n</html>\n"
    )
    return document.encode()


def with_first_section(document: str, anchor: str, name: str, first: Html) -> str:
    """Put a section, and its link, before all others of a page that `report` wrote.

    Raises:
        ValueError: `report` did not write it.
    """
    if any(document.count(place) != 1 for place in (NAVIGATION, MAIN)):
        raise ValueError("this is not the page of the stage report: run `dvc repro report`")
    navigation = f"{NAVIGATION}{_link(anchor, name)}"
    return document.replace(NAVIGATION, navigation).replace(MAIN, f"{MAIN}{first}\n")


def _link(anchor: str, name: str) -> Html:
    return tag("li", tag("a", name, href=f"#{anchor}"))
