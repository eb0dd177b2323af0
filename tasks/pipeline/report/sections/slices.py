"""Where the network gains and loses: success@1 by occupation size, title length and source.

One drawing a test: the trained network and the n-gram matcher on the same slices of the queries.
"""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from tasks.pipeline.report.drawing import BLUE, ORANGE, figure
from tasks.pipeline.report.markup import Html, lines, paragraph, tag
from tasks.pipeline.report.names import SLICES, TESTS, counted, in_order, system_name, test_name
from tasks.pipeline.report.report_data import ReportData

BASELINE = "ngram"
OFFSET = 0.14  # of a row, by which the two systems stand apart


def slices(report_data: ReportData) -> Html:
    """Make the content of section `slices`."""
    rows = report_data.table.filter(
        pl.col("slice").is_in(list(SLICES)),
        pl.col("system").is_in([BASELINE, report_data.trained]),
        metric="success_at_1",
    )
    drawings = [
        _drawing(test, rows.filter(test=test), report_data.trained)
        for test in in_order(rows["test"], TESTS)
    ]
    if not drawings:
        return paragraph("No test has a query.")
    return lines(
        paragraph(
            "Success@1 of the network and the n-gram matcher on parts of each test: by the number "
            "of titles of the right occupation, by the length of the query, and by where it comes "
            "from in tests of several sources. Look for rows "
            "where the bars (95 % intervals) do not overlap: there one system is the better "
            "choice. Few queries make long bars."
        ),
        paragraph(
            tag("span", "● ", class_="blue"),
            system_name(report_data.trained),
            tag("span", "\u2003■ ", class_="orange"),
            system_name(BASELINE),
            class_="key",
        ),
        tag("div", *drawings, class_="grid three above"),
    )


def _drawing(test: str, rows: pl.DataFrame, trained: str) -> Html:
    sizes = dict(rows.select("slice", "n").iter_rows())
    names = [name for name in SLICES if name in sizes]
    labels = [f"{SLICES[name]}\n{counted(sizes[name], 'query', 'queries')}" for name in names]

    def plot(axes: Axes) -> None:
        for system, colour, marker, shift in (
            (trained, BLUE, "o", -OFFSET),
            (BASELINE, ORANGE, "s", OFFSET),
        ):
            mine = rows.filter(system=system)
            places = [names.index(name) + shift for name in mine["slice"]]
            axes.hlines(places, mine["low"], mine["high"], colour, linewidth=2.2, alpha=0.5)
            axes.plot(mine["value"], places, marker, color=colour, clip_on=False)
        axes.set_yticks(range(len(names)), labels, fontsize=8.5)
        axes.tick_params(axis="y", pad=8)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel("success@1")

    meaning = f"success@1 by slice on the test {test_name(test)}"
    caption, height = tag("strong", test_name(test)), 0.9 + 0.32 * len(names)
    return figure(f"slices-{test}", meaning, caption, plot, width=3.5, height=height)
