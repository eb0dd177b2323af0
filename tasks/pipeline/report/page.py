"""The page around the sections: one file with its style inside; no script, nothing from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tasks.pipeline.report.markup import Html, join, tag
from tasks.pipeline.report.report_data import ReportData
from tasks.pipeline.report.sections.augmentation import augmentation
from tasks.pipeline.report.sections.confusions import confusions, worst_occupations
from tasks.pipeline.report.sections.coverage import coverage
from tasks.pipeline.report.sections.feedback import feedback
from tasks.pipeline.report.sections.learning import learning
from tasks.pipeline.report.sections.overview import headline, overview
from tasks.pipeline.report.sections.results import results
from tasks.pipeline.report.sections.reviewers import reviewers
from tasks.pipeline.report.sections.slices import slices

STYLE = Path(__file__).with_name("page.css")
SECTIONS: dict[str, tuple[str, Callable[[ReportData], Html]]] = {
    "results": ("Results", results),
    "slices": ("Slices", slices),
    "coverage": ("Coverage", coverage),
    "occupations": ("Worst occupations", worst_occupations),
    "confusions": ("Confusions", confusions),
    "learning": ("Learning curves", learning),
    "augmentation": ("Augmentation", augmentation),
    "feedback": ("Feedback", feedback),
    "reviewers": ("Reviewers", reviewers),
    "data": ("Data and model", overview),
}
NAVIGATION = '<nav aria-label="Sections"><ul>'
MAIN = "<main>"  # where further links and sections are put in


def page(report_data: ReportData) -> str:
    """Write the whole document; equal data give equal characters."""
    links = [tag("li", tag("a", name, href=f"#{anchor}")) for anchor, (name, _) in SECTIONS.items()]
    head = tag(
        "header",
        tag("h1", "Rolecall: from raw titles to occupations"),
        headline(report_data),
        tag("nav", tag("ul", *links), aria_label="Sections"),
    )
    main = tag("main", join((make(report_data) for _, make in SECTIONS.values()), "\n"))
    style = Html(STYLE.read_text(encoding="utf-8"))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Rolecall, mix {report_data.trained}: report</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n{head}\n{main}\n</body>\n</html>\n"
    )


def with_first_section(document: str, anchor: str, name: str, first: Html) -> str:
    """Put a section, and its link, before all others of what `page` wrote.

    Raises:
        ValueError: `page` did not write it.
    """
    if any(document.count(place) != 1 for place in (NAVIGATION, MAIN)):
        raise ValueError("this is not the page of the stage report: run `dvc repro report`")
    link = tag("li", tag("a", name, href=f"#{anchor}"))
    return document.replace(NAVIGATION, f"{NAVIGATION}{link}").replace(MAIN, f"{MAIN}{first}\n")
