"""Share of a week's inputs that are answered correctly, with and without reviews."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pages.plots import COLOURS, MARKS, svg
from benchmarks.pages.tables import over_seeds, where
from benchmarks.results import Line, Lines
from benchmarks.studies.loop.arm import WEEK
from benchmarks.studies.loop.reviewer import NOTHING, QUEUE, RANDOM

LABELS = {
    QUEUE: "the queue reviewed",
    RANDOM: "random inputs reviewed",
    NOTHING: "nothing reviewed",
}
APART = 0.12
"""Distance between the marks of a week."""


def plot(rows: Lines) -> str:
    """Draw success@1 by week, a line an arm, with 95 % intervals."""
    means = over_seeds(where(rows, metric="success_at_1"))

    def draw(whole: Figure) -> None:
        axes = whole.subplots()
        for number, arm in enumerate(LABELS):
            _line(axes, number, arm, where(means, system=arm))
        axes.set_xlabel("week; the first comes before any review")
        axes.set_ylabel("inputs answered correctly")
        whole.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3)

    return svg("loop", draw)


def _line(axes: Axes, number: int, arm: str, rows: Lines) -> None:
    weeks = sorted((row for row in rows if _week(row)), key=_week)
    values, lows, highs = ([float(row[end]) for row in weeks] for end in ("value", "low", "high"))
    ends = [
        [value - low for value, low in zip(values, lows, strict=True)],
        [high - value for value, high in zip(values, highs, strict=True)],
    ]
    places = [_week(row) + APART * (number - 1) for row in weeks]
    look: dict[str, Any] = {"color": COLOURS[number], "marker": MARKS[number], "elinewidth": 0.8}
    axes.errorbar(places, values, ends, label=LABELS[arm], **look)


def _week(row: Line) -> int:
    """Return the week whose inputs a row is of; 0 of any other row."""
    number = row["test"].removeprefix(WEEK)
    return int(number) if number.isdecimal() else 0
