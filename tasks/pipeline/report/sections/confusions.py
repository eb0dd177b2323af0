"""The worst confusions: which occupation is answered for which, how often, and on what."""

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
from tasks.pipeline.report.names import count, listed, percent, test_name
from tasks.pipeline.report.report_data import ReportData

JUDGED = ("annotations", "heldout_alias")
EXAMPLES = 3


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

    Args:
        run: schema `RUN`; rank 1 of `system` on the tests `JUDGED` is judged.
        queries: schema `QUERIES`; a query with several gold occupations keeps them as one list.
        system: the trained system's name.
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
