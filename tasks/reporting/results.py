"""The result table, systems by tests, and where the network stands against each baseline.

Success@1 has its 95 % bootstrap interval from the stage `evaluate`. Comparisons are paired: the
interval of the mean difference over the same queries, which can tell systems apart whose own
intervals overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from models.intervals import Interval, paired_interval
from models.seeding import child_seed
from tasks.reporting.markup import (
    Html,
    join,
    number,
    paragraph,
    section,
    table,
    table_of_bodies,
    table_row,
    tag,
)
from tasks.reporting.material import Material
from tasks.reporting.names import (
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

HEAD = ("System", "success@1", "95 % interval", "0 … 1", "success@5", "MRR")
SHOWN = ("success_at_1", "success_at_5", "mrr")
Cells = Mapping[tuple[str, str], Interval]


class Comparison(NamedTuple):
    """Network less baseline on one test, success@1."""

    test: str
    baseline: str
    difference: Interval

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `not told apart`: where the interval lies relative to 0."""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "not told apart"


def results(material: Material) -> Html:
    """Section `results`."""
    whole = material.table.filter(pl.col("slice") == "all")
    if whole.is_empty():
        return section("results", "Results", paragraph("No test has a query."))
    comparisons = compare(material)
    bodies = [
        _body(test, whole.filter(pl.col("test") == test), material.trained)
        for test in in_order(whole["test"], TESTS)
    ]
    return section(
        "results",
        "Results",
        *(paragraph(text, class_="verdict") for text in standing(comparisons)),
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


def compare(material: Material) -> list[Comparison]:
    """The trained network against each baseline on each test, paired by query."""
    found = []
    keys = ["test", "query_id"]
    mine = material.scores.filter(pl.col("system") == material.trained)
    for baseline in in_order(set(material.scores["system"]) - {material.trained}, BASELINES):
        theirs = material.scores.filter(pl.col("system") == baseline)
        both = mine.join(theirs, on=keys, suffix="_theirs", maintain_order="left")
        for test in in_order(both["test"], TESTS):
            rows = both.filter(pl.col("test") == test)
            difference = paired_interval(
                rows["success_at_1"].to_numpy(),
                rows["success_at_1_theirs"].to_numpy(),
                material.params.evaluate.bootstrap_draws,
                child_seed(material.params.seed, "report", test),
            )
            found.append(Comparison(test, baseline, difference))
    return found


def standing(comparisons: list[Comparison]) -> list[str]:
    """One sentence a baseline: where the network stands against it."""
    sentences = []
    for baseline in dict.fromkeys(c.baseline for c in comparisons):
        against = [c for c in comparisons if c.baseline == baseline]
        parts = [
            f"{verb} on {listed([_with_difference(c) for c in some])}"
            for verdict, verb in _VERBS.items()
            if (some := [c for c in against if c.verdict == verdict])
        ]
        sentences.append(
            f"Against {baseline_name(baseline)} the network is {'; it is '.join(parts)}."
        )
    return sentences


_VERBS = {
    "better": "better",
    "worse": "worse",
    "not told apart": "not clearly better or worse",
}


def _with_difference(comparison: Comparison) -> str:
    return f"{test_name(comparison.test)} ({signed(comparison.difference.value)} success@1)"


def _body(test: str, rows: pl.DataFrame, trained: str) -> Html:
    """The rows of one test, under a heading that says what it asks and how often."""
    cells = {
        (system, metric): Interval(value, low, high)
        for system, metric, value, low, high in rows.select(
            "system", "metric", "value", "low", "high"
        ).iter_rows()
    }
    systems = in_order({system for system, _ in cells}, BASELINES)
    best = {m: max(cells[s, m].value for s in systems if (s, m) in cells) for m in SHOWN}
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


def _row(system: str, cells: Cells, best: Mapping[str, float], network: bool) -> Html:
    def cell(metric: str) -> Html:
        value = cells[system, metric].value
        written = share(value)
        return number(tag("strong", written) if value == best[metric] else written)

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
    """A bar from low to high and a dot at the value, on a line from 0 to 1."""
    x: Callable[[float], str] = lambda value: f"{2 + 116 * min(max(value, 0), 1):.1f}"  # noqa: E731
    colour = "var(--blue)" if network else "var(--ink)"
    return Html(
        '<svg class="mark" viewBox="0 0 120 12" width="120" height="12" aria-hidden="true">'
        '<line x1="2" x2="118" y1="6" y2="6" stroke="var(--line)"/>'
        f'<line x1="{x(interval.low)}" x2="{x(interval.high)}" y1="6" y2="6" '
        f'stroke="{colour}" stroke-width="4" stroke-opacity=".45"/>'
        f'<circle cx="{x(interval.value)}" cy="6" r="3.2" fill="{colour}"/></svg>'
    )


def _differences(comparisons: list[Comparison]) -> Html:
    if not comparisons:
        return Html("")
    rows = [
        (
            f"{test_name(c.test)}, against {baseline_name(c.baseline)}",
            number(signed(c.difference.value)),
            number(f"{signed(c.difference.low)} … {signed(c.difference.high)}"),
            c.verdict,
        )
        for c in comparisons
    ]
    return join(
        [
            table(
                "The trained network less each baseline, success@1, over the same queries",
                ("Test", "Difference", "95 % interval", "The network is"),
                rows,
            )
        ]
    )
