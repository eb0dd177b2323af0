"""Section on the labels behind confidence, or those missing, and on figures of accuracy."""

from __future__ import annotations

from tasks.pipeline.report.markup import Html, lines, paragraph, tag
from tasks.pipeline.report.names import count, test_name
from tasks.pipeline.report.report_data import ReportData

RULES = (
    (
        "This page",
        "ranks the queries of the tests with the network, in an index that lacks the titles which "
        "these tests keep out.",
    ),
    (
        "The gate",
        "does the same with queries of its own, so its figures of a test are near to these and "
        "not equal; everyday titles it asks of the whole model.",
    ),
    (
        "The registered model",
        "has every title of the taxonomy in its index, corrects spelling, answers known titles by "
        "exact match, and may abstain. `make benchmark` measures that.",
    ),
)
"""Why the same model has several figures of accuracy."""


def confidence(report_data: ReportData) -> Html:
    """Make the content of section `confidence`."""
    counts = report_data.calibration
    number, test = counts["calibration_queries"], test_name(counts["calibrated_on"])
    if missing := counts.get("missing"):
        where = "The registered model gives no confidence"
        if number:
            where = f"Confidence is fitted on {count(number)} titles of {test} instead"
        fitted = f"{missing[0].upper()}{missing[1:]}. {where}."
    else:
        fitted = f"Confidence is fitted on {count(number)} labelled titles that no test queries."
    rules = [tag("li", tag("strong", who), f" {rule}") for who, rule in RULES]
    return lines(
        paragraph(fitted),
        paragraph("The same model has several figures of accuracy:"),
        tag("ul", *rules),
    )
