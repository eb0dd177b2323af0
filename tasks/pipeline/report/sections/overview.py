"""The head of the page, and its section on the data."""

from __future__ import annotations

from tasks.pipeline.report.markup import Html, NumberHead, lines, paragraph, table, tag
from tasks.pipeline.report.names import count, mix_words
from tasks.pipeline.report.report_data import ReportData

SPLITS = {
    "train": "in training and in the index",
    "heldout_alias": "kept out for the test Held-out alias",
    "valid": "kept out to choose when to stop",
    "gate": "kept out for the gate between challenger and champion",
}


def headline(report_data: ReportData) -> Html:
    """Say the data and the model in two lines, under the title of the page."""
    counts, train = report_data.counts, report_data.params.train
    figures = (
        (counts["occupations"], "occupations"),
        (counts["aliases"], "aliases"),
        (counts["inputs"], "inputs"),
        (counts["inputs_labelled"], "of them labelled"),
        (counts["rejected_errors"], "rejected rows"),
    )
    items = [tag("li", tag("strong", count(value)), f" {name}") for value, name in figures]
    return lines(
        tag("ul", *items, class_="figures"),
        paragraph(
            f"Taxonomy: {report_data.params.reader}. "
            f"Model: mix {report_data.trained}, trained on {mix_words(report_data.trained)}; "
            f"{train.encoder.kind} encoder, {train.loss.kind} loss.",
            class_="lead",
        ),
    )


def data(report_data: ReportData) -> Html:
    """Make the content of section `data`."""
    counts = report_data.counts
    splits = dict(report_data.aliases["split"].value_counts().iter_rows())
    rows = [
        ("Occupations", counts["occupations"], "the classes to find"),
        ("Aliases", counts["aliases"], "titles of occupations, the labels among them"),
        *((f"– {name}", splits.get(name, 0), meaning) for name, meaning in SPLITS.items()),
        ("Inputs", counts["inputs"], "raw titles as they come in"),
        ("– labelled", counts["inputs_labelled"], "with their occupation"),
        ("Rows read", sum(counts["rows_read"].values()), "from all files of the data set"),
        ("– left out", sum(counts["rejected"].values()), _reasons(counts["rejected"])),
        ("– of them rejected", counts["rejected_errors"], "for a fault in the row"),
    ]
    return lines(
        paragraph(
            "The split keeps every test query out of training and out of the index in which "
            "answers are looked up."
        ),
        table(
            "Rows that were read, and the split of the aliases",
            ["Rows", NumberHead("Count"), "Meaning"],
            [(name, count(value), meaning) for name, value, meaning in rows],
        ),
    )


def _reasons(rejected: dict[str, int]) -> str:
    named = (f"{reason}: {count(rows)}" for reason, rows in sorted(rejected.items()))
    return "; ".join(named) or "nothing was left out"
