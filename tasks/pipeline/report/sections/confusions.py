"""The worst occupations: wrong first answers, what they are taken for, and on which titles."""

from __future__ import annotations

from typing import Any

import polars as pl

from tasks.pipeline.report.markup import Html, NumberHead, join, lines, paragraph, table, tag
from tasks.pipeline.report.names import count, counted, listed, percent, test_name
from tasks.pipeline.report.report_data import ReportData

JUDGED = ("annotations", "heldout_alias")
JUDGED_NAMES = listed([test_name(test) for test in JUDGED])
TAKEN_FOR = 3
EXAMPLES = pl.struct("raw_title", "title").unique(maintain_order=True).head(3)


def confusions(report_data: ReportData) -> Html:
    """Make the content of section `confusions`."""
    worst = by_occupation(report_data.run, report_data.queries, report_data.trained)
    if worst.is_empty():
        return paragraph(f"No occupation has a wrong first answer on {JUDGED_NAMES}.")
    frequent = worst.head(report_data.params.report.confusions)
    misses, covered = (int(rows["misses"].sum()) for rows in (worst, frequent))
    rows = [
        (
            _labels(row["gold"], report_data),
            row["misses"],
            row["queries"],
            ", ".join(
                f"{report_data.label(other['occupation_id'])} ({other['count']})"
                for other in row["taken_for"]
            ),
            _examples(row["examples"]),
        )
        for row in frequent.iter_rows(named=True)
    ]
    numbers = map(NumberHead, ("Wrong", "of queries"))
    head = ("Right occupation", *numbers, "Taken for", "Examples: query → nearest alias")
    return lines(
        paragraph(
            f"Queries of {JUDGED_NAMES} by their right occupation: "
            f"{counted(worst.height, 'occupation')} with {counted(misses, 'wrong first answer')}; "
            f"the {count(frequent.height)} with the most, {percent(covered / misses)} of all "
            "misses, are below. One that is taken for many others may need more aliases. If the "
            "examples name one alias each time, that alias pulls in too much. One that is "
            "taken for a single other may differ from it in the taxonomy only."
        ),
        table(
            "Right occupation, its wrong first answers, what it is taken for, and examples",
            head,
            rows,
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
    wrong = _wrong_answers(run, queries, system)
    answered = (
        wrong.group_by("gold", "occupation_id")
        .len("count")
        .sort("count", "occupation_id", descending=[True, False])
        .group_by("gold", maintain_order=True)
        .agg(taken_for=pl.struct("occupation_id", "count").head(TAKEN_FOR))
    )
    return (
        wrong.group_by("gold", maintain_order=True)
        .agg(misses=pl.len(), examples=EXAMPLES)
        .join(total.agg(queries=pl.len()), on="gold")
        .join(answered, on="gold")
        .sort(
            "misses",
            pl.col("misses") / pl.col("queries"),
            pl.col("gold").list.join("\t"),
            descending=[True, True, False],
        )
    )


def _wrong_answers(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return the wrong first answers on the tests `JUDGED`, with their queries, in their order."""
    return (
        run.filter(pl.col("test").is_in(list(JUDGED)), system=system, rank=1)
        .join(queries, on=["test", "query_id"], maintain_order="left")
        .rename({"occupation_ids": "gold"})
        .filter(~pl.col("gold").list.contains(pl.col("occupation_id")))
        .sort("test", "query_id")
    )


def _labels(occupation_ids: list[str], report_data: ReportData) -> str:
    return listed([report_data.label(occupation) for occupation in occupation_ids])


def _examples(examples: list[dict[str, Any]]) -> Html:
    """Write each query and the alias that answered it."""
    parts = (join([e["raw_title"], " → ", tag("em", e["title"])]) for e in examples)
    return join(parts, "<br>")
