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
    NumberHead,
    lines,
    paragraph,
    table,
    table_of_bodies,
    table_row,
    tag,
)
from tasks.pipeline.report.names import (
    BASELINES,
    TESTS,
    baseline_name,
    counted,
    crossed,
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
    NumberHead("success@1"),
    NumberHead("95 % interval"),
    "from 0 to 1",
    NumberHead("success@5"),
    NumberHead("MRR"),
)
METRICS = ("success_at_1", "success_at_5", "mrr")
VERBS = {"better": "better", "worse": "worse", "inconclusive": "not clearly better or worse"}


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
    """Make the content of section `results`."""
    whole = report_data.table.filter(slice="all")
    if whole.is_empty():
        return paragraph("No test has a query.")
    comparisons = compare(report_data)
    bodies = [
        _body(test, whole.filter(test=test), report_data.trained)
        for test in in_order(whole["test"], TESTS)
    ]
    return lines(
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
    mine = report_data.scores.filter(system=report_data.trained)
    for baseline in in_order(set(report_data.scores["system"]) - {report_data.trained}, BASELINES):
        theirs = report_data.scores.filter(system=baseline)
        both = mine.join(theirs, on=["test", "query_id"], suffix="_theirs").sort("query_id")
        for test in in_order(both["test"], TESTS):
            rows = both.filter(test=test)
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
        tests: dict[str, list[str]] = {verdict: [] for verdict in VERBS}
        for c in comparisons:
            if c.baseline == baseline:
                tests[c.verdict].append(f"{test_name(c.test)} ({signed(c.difference.value)})")
        parts = [f"{VERBS[verdict]} on {listed(on)}" for verdict, on in tests.items() if on]
        sentences.append(
            f"Against {baseline_name(baseline)} the trained network is {'; it is '.join(parts)}."
        )
    return sentences


def _body(test: str, rows: pl.DataFrame, trained: str) -> Html:
    """Make the rows of one test, under a heading with its meaning and size."""
    best = {m: share(v) for m, v in rows.group_by("metric").agg(pl.max("value")).iter_rows()}
    meaning = f": {TESTS[test][1]}" if test in TESTS else ""
    heading = tag(
        "th",
        tag("strong", test_name(test)),
        f"{meaning}. {counted(rows['n'][0], 'query', 'queries')}.",
        colspan=len(HEAD),
        scope="rowgroup",
    )
    body = [
        _row(system, rows.filter(system=system), best, system == trained)
        for system in in_order(rows["system"], BASELINES)
    ]
    return tag("tbody", tag("tr", heading, class_="group"), *body)


def _row(system: str, rows: pl.DataFrame, best: Mapping[str, str], is_network: bool) -> Html:
    by_metric = {row["metric"]: row for row in rows.iter_rows(named=True)}
    values = {metric: share(by_metric[metric]["value"]) for metric in METRICS}
    accuracy, *others = (
        tag("strong", value) if value == best[metric] else value for metric, value in values.items()
    )
    first, name = by_metric["success_at_1"], system_name(system)
    interval = f"{share(first['low'])} – {share(first['high'])}"
    name = tag("strong", name) if is_network else name
    return table_row(HEAD, [name, accuracy, interval, _interval_mark(first, is_network), *others])


def _interval_mark(row: Mapping[str, float], is_network: bool) -> Html:
    """Draw a bar from low to high and a tick at the value, on a line from 0 to 1."""
    colour = "var(--blue)" if is_network else "var(--ink)"
    low, value, high = (
        f"{2 + 236 * min(max(row[end], 0), 1):.1f}" for end in ("low", "value", "high")
    )
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
    cells = {
        ((test_name(test),), c.baseline): _difference(c)
        for test in in_order((c.test for c in comparisons), TESTS)
        for c in comparisons
        if c.test == test
    }
    head = ["Test", *(f"less {baseline_name(baseline)}" for baseline in baselines)]
    caption = "Success@1 of the trained network less that of each baseline, on the same queries"
    return table(caption, head, crossed(cells, baselines))


def _difference(comparison: Comparison) -> Html:
    value, low, high = (signed(end) for end in astuple(comparison.difference))
    interval = tag("small", f"95 %: {low} … {high}")
    verdict = tag("span", comparison.verdict, class_=comparison.verdict)
    return tag("td", f"{value} ", verdict, Html("<br>"), interval, class_="compared")
