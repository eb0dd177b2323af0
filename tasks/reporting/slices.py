"""Where the network gains and loses: success@1 by occupation size and title length.

One drawing a test: the trained network and the n-gram matcher on the same slices of the queries.
"""

from __future__ import annotations

import polars as pl

from tasks.reporting.drawing import BLUE, ORANGE, Drawing
from tasks.reporting.markup import Html, figure, paragraph, section, tag
from tasks.reporting.material import Material
from tasks.reporting.names import TESTS, count, in_order, system_name, test_name

BASELINE = "ngram"
SLICES = {
    "size:1": "1 title",
    "size:2-5": "2–5 titles",
    "size:6-15": "6–15 titles",
    "size:16+": "16 titles or more",
    "length:1-15": "1–15 characters",
    "length:16-30": "16–30 characters",
    "length:31+": "31 characters or more",
}
OFFSET = 0.14  # of a row, by which the two systems stand apart


def slices(material: Material) -> Html:
    """Section `slices`."""
    rows = material.table.filter(
        (pl.col("metric") == "success_at_1")
        & pl.col("slice").is_in(list(SLICES))
        & pl.col("system").is_in([BASELINE, material.trained])
    )
    drawings = [
        _drawing(test, rows.filter(pl.col("test") == test), material.trained)
        for test in in_order(rows["test"], TESTS)
    ]
    if not drawings:
        return section("slices", "Slices", paragraph("No test has a query."))
    return section(
        "slices",
        "Slices",
        paragraph(
            "Success@1 of the network and the n-gram matcher on parts of each test: by the number "
            "of titles of the right occupation, and by the length of the query. Look for rows "
            "where the bars (95 % intervals) do not overlap: there one system is the better "
            "choice. Few queries make long bars."
        ),
        tag("div", *drawings, class_="grid"),
    )


def _drawing(test: str, rows: pl.DataFrame, trained: str) -> Html:
    present = set(rows["slice"])
    shown = [name for name in SLICES if name in present]
    sizes = {name: n for name, n in rows.select("slice", "n").iter_rows()}
    meaning = f"success@1 by slice on the test {test_name(test)}"
    with Drawing(f"slices-{test}", meaning, height=0.9 + 0.32 * len(shown)) as (drawing, axes):
        for system, colour, marker, shift in (
            (trained, BLUE, "o", -OFFSET),
            (BASELINE, ORANGE, "s", OFFSET),
        ):
            held = {
                row["slice"]: row for row in rows.iter_rows(named=True) if row["system"] == system
            }
            places = [place + shift for place, name in enumerate(shown) if name in held]
            found = [held[name] for name in shown if name in held]
            axes.hlines(
                places,
                [row["low"] for row in found],
                [row["high"] for row in found],
                color=colour,
                linewidth=2.2,
                alpha=0.5,
            )
            axes.plot(
                [row["value"] for row in found],
                places,
                marker,
                color=colour,
                markersize=5,
                label=system_name(system),
            )
        labels = [f"{SLICES[name]}\n{count(sizes[name])} queries" for name in shown]
        axes.set_yticks(range(len(shown)), labels, fontsize=8)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel("success@1")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
    return figure(drawing.svg, tag("strong", test_name(test)))
