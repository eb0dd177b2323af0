"""The worst occupations: those with the most wrong first answers, and what they are taken for."""

from __future__ import annotations

import polars as pl

from tasks.pipeline.report.markup import (
    Html,
    join,
    number,
    number_head,
    paragraph,
    section,
    table,
    tag,
)
from tasks.pipeline.report.names import count, counted, listed, percent, test_name
from tasks.pipeline.report.report_data import ReportData
from tasks.pipeline.report.sections.confusions import EXAMPLES, JUDGED, example, wrong_answers

TAKEN_FOR = 3
TITLE = "Worst occupations"


def worst_occupations(report_data: ReportData) -> Html:
    """Make section `occupations`."""
    worst = by_occupation(report_data.run, report_data.queries, report_data.trained)
    names = listed([test_name(test) for test in JUDGED])
    if worst.is_empty():
        nothing = paragraph(f"No occupation has a wrong first answer on {names}.")
        return section("occupations", TITLE, nothing)
    shown = worst.head(report_data.params.report.confusions)
    misses = int(worst["misses"].sum())
    covered = percent(int(shown["misses"].sum()) / misses)
    return section(
        "occupations",
        TITLE,
        paragraph(
            f"Queries of {names} by their right occupation: "
            f"{counted(worst.height, 'occupation')} with {counted(misses, 'wrong first answer')}; "
            f"the {count(shown.height)} with the most, {covered} of all misses, are below. One "
            "that is taken for many others may need more aliases; one that is taken for a single "
            "other may differ from it in the taxonomy only."
        ),
        table(
            "Right occupation, its wrong first answers, what it is taken for, and examples",
            (
                "Right occupation",
                number_head("Wrong"),
                number_head("of queries"),
                "Taken for",
                "Examples: query → nearest alias",
            ),
            [_row(row, report_data) for row in shown.iter_rows(named=True)],
        ),
    )


def by_occupation(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Count `gold, misses, asked, taken_for, examples`; most misses first, then the largest share.

    Args:
        run: schema `RUN`; rank 1 of `system` on the tests `JUDGED` is judged.
        queries: schema `QUERIES`; a query with several gold occupations keeps them as one list.
        system: the trained system's name.

    Returns:
        One row an occupation; `taken_for` holds `occupation_id, count` of the most frequent wrong
        answers, at equal counts by id.
    """
    asked = queries.filter(pl.col("test").is_in(list(JUDGED))).group_by(gold="occupation_ids")
    wrong = wrong_answers(run, queries, system).rename({"occupation_ids": "gold"})
    answered = (
        wrong.group_by("gold", "occupation_id")
        .len("count")
        .sort("count", "occupation_id", descending=[True, False])
        .group_by("gold", maintain_order=True)
        .agg(taken_for=pl.struct("occupation_id", "count").head(TAKEN_FOR))
    )
    examples = pl.struct("raw_title", "title").unique(maintain_order=True).head(EXAMPLES)
    return (
        wrong.group_by("gold", maintain_order=True)
        .agg(misses=pl.len(), examples=examples)
        .join(asked.agg(asked=pl.len()), on="gold")
        .join(answered, on="gold")
        .sort(
            "misses",
            pl.col("misses") / pl.col("asked"),
            pl.col("gold").list.join("\t"),
            descending=[True, True, False],
        )
    )


def _row(row: dict[str, list[dict[str, str]]], report_data: ReportData) -> tuple[object, ...]:
    others = [
        f"{report_data.label(other['occupation_id'])} ({other['count']})"
        for other in row["taken_for"]
    ]
    return (
        listed([report_data.label(str(occupation)) for occupation in row["gold"]]),
        number(row["misses"]),
        number(row["asked"]),
        ", ".join(others),
        tag("td", join((example(**shown) for shown in row["examples"]), "<br>")),
    )
