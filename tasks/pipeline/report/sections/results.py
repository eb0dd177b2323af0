"""The result table, systems by tests, and where the network stands against each baseline.

Success@1 has its 95 % bootstrap interval from the stage `evaluate`. Comparisons are paired: the
interval of the mean difference over the same queries, which can tell systems apart whose own
intervals overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import NamedTuple

import polars as pl

from models.metrics.intervals import Interval, paired_interval
from models.reproducibility.seeding import child_seed
from tasks.pipeline.report.markup import (
    Html,
    number,
    number_head,
    paragraph,
    section,
    table,
    table_of_bodies,
    table_row,
    tag,
)
from tasks.pipeline.report.names import (
    BASELINES,
    TEST_MEANING,
    TESTS,
    baseline_name,
    counted,
    in_order,
    listed,
    share,
    signed,
    system_name,
    test_name,
)
from tasks.pipeline.report.report_data import ReportData

HEAD = (
    "System",
    number_head("success@1"),
    number_head("95 % interval"),
    "from 0 to 1",
    number_head("success@5"),
    number_head("MRR"),
)
SHOWN = ("success_at_1", "success_at_5", "mrr")
Cells = Mapping[tuple[str, str], Interval]


class Comparison(NamedTuple):
    """Network less baseline on one test, success@1."""

    test: str
    baseline: str
    difference: Interval

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `inconclusive`: where the interval lies relative to 0."""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "inconclusive"


def results(report_data: ReportData) -> Html:
    """Make section `results`."""
    whole = report_data.table.filter(pl.col("slice") == "all")
    if whole.is_empty():
        return section("results", "Results", paragraph("No test has a query."))
    comparisons = compare(report_data)
    bodies = [
        _body(test, whole.filter(pl.col("test") == test), report_data.trained)
        for test in in_order(whole["test"], TESTS)
    ]
    return section(
        "results",
        "Results",
        paragraph("Where the trained network stands, by the paired difference in success@1:"),
        tag("ul", *(tag("li", text) for text in standing(comparisons)), class_="verdicts"),
        table_of_bodies(
            "Every system on every test; the best figure of each column is bold", HEAD, bodies
        ),
        paragraph(
            "Success@k: the share of queries with a right occupation among the first k answers; "
            "success@1 is what the paper calls accuracy. MRR: the mean of 1 / rank of the first "
            "right occupation. Higher is better for all; tied answers count by expectation. The "
            "bar is the 95 % bootstrap interval over queries.",
            class_="note",
        ),
        _differences(comparisons),
    )


def compare(report_data: ReportData) -> list[Comparison]:
    """Compare the trained network with each baseline on each test, paired by query."""
    comparisons = []
    keys = ["test", "query_id"]
    mine = report_data.scores.filter(pl.col("system") == report_data.trained)
    for baseline in in_order(set(report_data.scores["system"]) - {report_data.trained}, BASELINES):
        theirs = report_data.scores.filter(pl.col("system") == baseline)
        both = mine.join(theirs, on=keys, suffix="_theirs")
        for test in in_order(both["test"], TESTS):
            rows = both.filter(pl.col("test") == test).sort("query_id")
            difference = paired_interval(
                rows["success_at_1"].to_numpy(),
                rows["success_at_1_theirs"].to_numpy(),
                report_data.params.evaluate.bootstrap_draws,
                child_seed(report_data.params.seed, "report", test),
            )
            comparisons.append(Comparison(test, baseline, difference))
    return comparisons


def standing(comparisons: list[Comparison]) -> list[str]:
    """Say in one sentence a baseline where the network stands against it."""
    sentences = []
    for baseline in dict.fromkeys(c.baseline for c in comparisons):
        against = [c for c in comparisons if c.baseline == baseline]
        parts = []
        for verdict, verb in _VERBS.items():
            same = [c for c in against if c.verdict == verdict]
            tests = [f"{test_name(c.test)} ({signed(c.difference.value)})" for c in same]
            parts += [f"{verb} on {listed(tests)}"] if tests else []
        sentences.append(
            f"Against {baseline_name(baseline)} the trained network is {'; it is '.join(parts)}."
        )
    return sentences


_VERBS = {"better": "better", "worse": "worse", "inconclusive": "not clearly better or worse"}


def _body(test: str, rows: pl.DataFrame, trained: str) -> Html:
    """Make the rows of one test, under a heading with its meaning and size."""
    cells = {
        (system, metric): Interval(value, low, high)
        for system, metric, value, low, high in rows.select(
            "system", "metric", "value", "low", "high"
        ).iter_rows()
    }
    systems = in_order({system for system, _ in cells}, BASELINES)
    best = {m: max(share(cells[system, m].value) for system in systems) for m in SHOWN}
    meaning = f": {TEST_MEANING[test]}" if test in TEST_MEANING else ""
    heading = tag(
        "tr",
        tag(
            "th",
            tag("strong", test_name(test)),
            f"{meaning}. {counted(rows['n'][0], 'query', 'queries')}.",
            colspan=len(HEAD),
            scope="rowgroup",
        ),
        class_="group",
    )
    made = [_row(system, cells, best, system == trained) for system in systems]
    return tag("tbody", heading, *made)


def _row(system: str, cells: Cells, best: Mapping[str, str], network: bool) -> Html:
    def cell(metric: str) -> Html:
        written = share(cells[system, metric].value)
        return number(tag("strong", written) if written == best[metric] else written)

    first = cells[system, "success_at_1"]
    return table_row(
        [
            tag("strong", system_name(system)) if network else system_name(system),
            cell("success_at_1"),
            number(f"{share(first.low)} – {share(first.high)}"),
            tag("td", interval_mark(first, network)),
            cell("success_at_5"),
            cell("mrr"),
        ]
    )


def interval_mark(interval: Interval, network: bool) -> Html:
    """Draw a bar from low to high and a tick at the value, on a line from 0 to 1."""

    def x(value: float) -> str:
        return f"{2 + 236 * min(max(value, 0), 1):.1f}"

    colour = "var(--blue)" if network else "var(--ink)"
    low, value, high = x(interval.low), x(interval.value), x(interval.high)
    return Html(
        '<svg class="mark" viewBox="0 0 240 14" preserveAspectRatio="none" width="240" height="14" '
        'aria-hidden="true">'
        f'<g stroke="{colour}"><line x1="2" x2="238" y1="7" y2="7" stroke="var(--line)"/>'
        f'<line x1="{low}" x2="{high}" y1="7" y2="7" stroke-width="6" stroke-opacity=".4"/>'
        f'<line x1="{value}" x2="{value}" y1="1" y2="13" stroke-width="2.5"/></g></svg>'
    )


def _differences(comparisons: list[Comparison]) -> Html:
    """Lay tests down, baselines across; a cell is the difference, its interval and the verdict."""
    baselines = list(dict.fromkeys(c.baseline for c in comparisons))
    by_cell = {(c.test, c.baseline): c for c in comparisons}
    rows = [
        [test_name(test)]
        + [_difference(by_cell[test, b]) if (test, b) in by_cell else tag("td") for b in baselines]
        for test in in_order((c.test for c in comparisons), TESTS)
    ]
    head = ["Test"] + [f"less {baseline_name(baseline)}" for baseline in baselines]
    caption = "Success@1 of the trained network less that of each baseline, on the same queries"
    return table(caption, head, rows)


def _difference(comparison: Comparison) -> Html:
    value, low, high = (signed(end) for end in astuple(comparison.difference))
    interval = tag("small", f"95 %: {low} … {high}")
    verdict = tag("span", comparison.verdict, class_=comparison.verdict.replace(" ", "-"))
    return tag("td", f"{value} ", verdict, Html("<br>"), interval, class_="compared")
