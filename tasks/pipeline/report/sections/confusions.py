"""The worst confusions and occupations: wrong first answers, how often, and on which titles."""

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

JUDGED = ("annotations", "heldout_alias")
EXAMPLES, TAKEN_FOR = 3, 3
WORST = "Worst occupations"


def confusions(report_data: ReportData) -> Html:
    """Make section `confusions`."""
    confused = confused_pairs(report_data.run, report_data.queries, report_data.trained)
    names = listed([test_name(test) for test in JUDGED])
    if confused.is_empty():
        nothing = paragraph(f"No wrong first answer on {names}.")
        return section("confusions", "Worst confusions", nothing)
    shown = confused.head(report_data.params.report.confusions)
    misses = int(confused["misses"].sum())
    covered = percent(int(shown["misses"].sum()) / misses)
    return section(
        "confusions",
        "Worst confusions",
        paragraph(
            f"Wrong first answers on {names}: {count(misses)} in {count(confused.height)} pairs of "
            f"right and answered occupation; the {count(shown.height)} most frequent pairs, "
            f"{covered} of all misses, are below. A pair with many "
            "misses is either two occupations that are hard to tell apart, or an alias that pulls "
            "in too much: the examples name the alias that answered."
        ),
        table(
            "Right occupation, what was answered, how often, and examples",
            (
                "Right occupation",
                "Answered",
                number_head("Misses"),
                "Examples: query → nearest alias",
            ),
            [_row(row, report_data) for row in shown.iter_rows(named=True)],
        ),
    )


def confused_pairs(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Count `gold, answered, misses, examples`, most frequent first, then by occupation ids.

    `run`: schema `RUN`; rank 1 of `system` on the tests `JUDGED` is judged; `queries`: schema
    `QUERIES`; a query with several gold occupations keeps them as one list.
    """
    return (
        wrong_answers(run, queries, system)
        .group_by("occupation_ids", "occupation_id", maintain_order=True)
        .agg(
            misses=pl.len(),
            examples=pl.struct("raw_title", "title").unique(maintain_order=True).head(EXAMPLES),
        )
        .rename({"occupation_ids": "gold", "occupation_id": "answered"})
        .with_columns(key=pl.col("gold").list.join("\t"))
        .sort("misses", "key", "answered", descending=[True, False, False])
        .drop("key")
    )


def wrong_answers(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return the wrong first answers on the tests `JUDGED`, with their queries, in their order."""
    first = run.filter(
        (pl.col("system") == system) & (pl.col("rank") == 1) & pl.col("test").is_in(list(JUDGED))
    )
    return (
        first.join(queries, on=["test", "query_id"], maintain_order="left")
        .filter(~pl.col("occupation_ids").list.contains(pl.col("occupation_id")))
        .sort("test", "query_id")
    )


def _row(row: dict[str, object], report_data: ReportData) -> tuple[object, ...]:
    gold, examples = row["gold"], row["examples"]
    assert isinstance(gold, list)
    assert isinstance(examples, list)
    return (
        listed([report_data.label(occupation) for occupation in gold]),
        report_data.label(str(row["answered"])),
        number(row["misses"]),
        tag("td", join((example(**shown) for shown in examples), "<br>")),
    )


def example(raw_title: str, title: str) -> Html:
    """Write a query and the alias that answered it."""
    return join([raw_title, " → ", tag("em", title)])


def worst_occupations(report_data: ReportData) -> Html:
    """Make section `occupations`."""
    worst = by_occupation(report_data.run, report_data.queries, report_data.trained)
    names = listed([test_name(test) for test in JUDGED])
    if worst.is_empty():
        nothing = paragraph(f"No occupation has a wrong first answer on {names}.")
        return section("occupations", WORST, nothing)
    shown = worst.head(report_data.params.report.confusions)
    misses = int(worst["misses"].sum())
    covered = percent(int(shown["misses"].sum()) / misses)
    return section(
        "occupations",
        WORST,
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
            [_occupation_row(row, report_data) for row in shown.iter_rows(named=True)],
        ),
    )


def by_occupation(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Count `gold, misses, queries, taken_for, examples`, the most and largest share first.

    `run`: schema `RUN`; rank 1 of `system` on the tests `JUDGED` is judged; `queries`: schema
    `QUERIES`; a query with several gold occupations keeps them as one list.

    Returns:
        One row an occupation; `taken_for` holds `occupation_id, count` of the most frequent wrong
        answers, at equal counts by id.
    """
    total = queries.filter(pl.col("test").is_in(list(JUDGED))).group_by(gold="occupation_ids")
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
        .join(total.agg(queries=pl.len()), on="gold")
        .join(answered, on="gold")
        .sort(
            "misses",
            pl.col("misses") / pl.col("queries"),
            pl.col("gold").list.join("\t"),
            descending=[True, True, False],
        )
    )


def _occupation_row(
    row: dict[str, list[dict[str, str]]], report_data: ReportData
) -> tuple[object, ...]:
    others = [
        f"{report_data.label(other['occupation_id'])} ({other['count']})"
        for other in row["taken_for"]
    ]
    return (
        listed([report_data.label(str(occupation)) for occupation in row["gold"]]),
        number(row["misses"]),
        number(row["queries"]),
        ", ".join(others),
        tag("td", join((example(**shown) for shown in row["examples"]), "<br>")),
    )
