"""The worst confusions and occupations: wrong first answers, how often, and on which titles."""

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
EXAMPLES_HEAD = "Examples: query → nearest alias"


def confusions(report_data: ReportData) -> Html:
    """Make the content of section `confusions`."""
    confused = confused_pairs(report_data.run, report_data.queries, report_data.trained)
    if confused.is_empty():
        return paragraph(f"No wrong first answer on {JUDGED_NAMES}.")
    frequent, misses, covered = _most_misses(confused, report_data)
    rows = [
        (
            _labels(row["gold"], report_data),
            report_data.label(row["answered"]),
            row["misses"],
            _examples(row["examples"]),
        )
        for row in frequent.iter_rows(named=True)
    ]
    return lines(
        paragraph(
            f"Wrong first answers on {JUDGED_NAMES}: {count(misses)} in {count(confused.height)} "
            f"pairs of right and answered occupation; the {count(frequent.height)} most frequent "
            f"pairs, {covered} of all misses, are below. A pair with many "
            "misses is either two occupations that are hard to tell apart, or an alias that pulls "
            "in too much: the examples name the alias that answered."
        ),
        table(
            "Right occupation, what was answered, how often, and examples",
            ("Right occupation", "Answered", NumberHead("Misses"), EXAMPLES_HEAD),
            rows,
        ),
    )


def confused_pairs(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Count `gold, answered, misses, examples`, most frequent first, then by occupation ids.

    `run`: schema `RUN`; rank 1 of `system` on the tests `JUDGED` is judged; `queries`: schema
    `QUERIES`; a query with several gold occupations keeps them as one list.
    """
    return (
        _wrong_answers(run, queries, system)
        .group_by("gold", answered="occupation_id", maintain_order=True)
        .agg(misses=pl.len(), examples=EXAMPLES)
        .sort("misses", pl.col("gold").list.join("\t"), "answered", descending=[True, False, False])
    )


def worst_occupations(report_data: ReportData) -> Html:
    """Make the content of section `occupations`."""
    worst = by_occupation(report_data.run, report_data.queries, report_data.trained)
    if worst.is_empty():
        return paragraph(f"No occupation has a wrong first answer on {JUDGED_NAMES}.")
    frequent, misses, covered = _most_misses(worst, report_data)
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
    head = ("Right occupation", *map(NumberHead, ("Wrong", "of queries")), "Taken for")
    return lines(
        paragraph(
            f"Queries of {JUDGED_NAMES} by their right occupation: "
            f"{counted(worst.height, 'occupation')} with {counted(misses, 'wrong first answer')}; "
            f"the {count(frequent.height)} with the most, {covered} of all misses, are below. One "
            "that is taken for many others may need more aliases; one that is taken for a single "
            "other may differ from it in the taxonomy only."
        ),
        table(
            "Right occupation, its wrong first answers, what it is taken for, and examples",
            (*head, EXAMPLES_HEAD),
            rows,
        ),
    )


def by_occupation(run: pl.DataFrame, queries: pl.DataFrame, system: str) -> pl.DataFrame:
    """Count `gold, misses, queries, taken_for, examples`, the most and largest share first.

    Arguments as of `confused_pairs`.

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


def _most_misses(counted: pl.DataFrame, report_data: ReportData) -> tuple[pl.DataFrame, int, str]:
    """Return the rows to show, the sum of all `misses`, and the share of it in these rows."""
    frequent = counted.head(report_data.params.report.confusions)
    misses = int(counted["misses"].sum())
    return frequent, misses, percent(int(frequent["misses"].sum()) / misses)


def _labels(occupation_ids: list[str], report_data: ReportData) -> str:
    return listed([report_data.label(occupation) for occupation in occupation_ids])


def _examples(examples: list[dict[str, Any]]) -> Html:
    """Write each query and the alias that answered it."""
    parts = (join([e["raw_title"], " → ", tag("em", e["title"])]) for e in examples)
    return join(parts, "<br>")
