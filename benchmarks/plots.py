"""Plots as SVG: equal figures give equal bytes; mid-tones that light and dark pages both carry."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from benchmarks.results import Lines
from benchmarks.tables import where

INK, FAINT = "#7d8590", "#7d859055"
COLOURS = ("#2f81f7", "#e0823d", "#3fa45b", "#a371f7", "#d4a72c", "#db61a2", "#7d8590")
MARKS = "osD^vPX"
STYLE: dict[str, Any] = {
    **{"svg.fonttype": "none", "font.family": "sans-serif", "legend.frameon": False},
    **dict.fromkeys(("font.size", "axes.titlesize"), 9),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("axes.edgecolor", "grid.color"), FAINT),
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **{"axes.titlelocation": "left", "grid.linewidth": 0.5},
    **{"lines.linewidth": 1.6, "lines.markersize": 4},
}
METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
Series = tuple[str, Sequence[float | None]]  # name and values of a line of a plot
Point = tuple[str, float, float]  # group, x and y of a mark of a scatter


def svg(name: str, draw: Callable[[Figure], None]) -> str:
    """Draw a figure as SVG without a date, an identifier by chance, or a background."""
    written = io.StringIO()
    settings: Any = {**STYLE, "svg.hashsalt": name}
    with rc_context(settings):
        figure = Figure(figsize=(8.0, 3.0), layout="constrained", facecolor="none")
        draw(figure)
        for axes in figure.axes:
            axes.set_facecolor("none")
        figure.savefig(written, format="svg", metadata=METADATA)
    return re.sub(r"[ \t]+$", "", written.getvalue(), flags=re.MULTILINE)


def curves(
    figure: Figure,
    ticks: Sequence[float] | Sequence[str],
    panels: Mapping[str, Sequence[Series]],
    x: str,
    y: str = "",
) -> None:
    """Draw a panel of lines for each title, one line a series, over ticks that all have."""
    grid = figure.subplots(1, len(panels), sharey=bool(y), squeeze=False)[0]
    for axes, (title, several) in zip(grid, panels.items(), strict=True):
        for number, (name, values) in enumerate(several):
            both = zip(ticks, values, strict=True)
            known = [(tick, value) for tick, value in both if value is not None]
            axes.plot(*zip(*known, strict=True), **_look(number), label=name)
        axes.set_title(title)
    grid[0].set_ylabel(y)
    figure.supxlabel(x, fontsize=9, color=INK)
    legend(figure, grid[0])


def scatters(figure: Figure, panels: Mapping[str, Sequence[Point]], y: str) -> None:
    """Draw a panel for each label of a logarithmic x axis, its marks coloured by group."""
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    groups = list(dict.fromkeys(own for points in panels.values() for own, _, _ in points))
    for axes, (label, points) in zip(grid, panels.items(), strict=True):
        for number, group in enumerate(groups):
            marks = np.array([(x, y) for own, x, y in points if own == group]).reshape(-1, 2)
            axes.plot(*marks.T, **{**_look(number), "linestyle": "none", "label": group})
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(LogFormatter())
        axes.xaxis.set_minor_formatter(LogFormatter())
        axes.set_xlabel(label)
    grid[0].set_ylabel(y)
    legend(figure, grid[0])


def intervals(
    axes: Axes, number: int, label: str, positions: Sequence[float], rows: Lines, **look: str
) -> None:
    """Draw rows as marks with their intervals: line `number` of a panel."""
    names = ("value", "low", "high")
    value, low, high = np.array([[float(row[name]) for row in rows] for name in names])
    drawn = {**_look(number), **look, "label": label, "elinewidth": 0.8}
    axes.errorbar(positions, value, [value - low, high - value], **drawn)


def legend(figure: Figure, axes: Axes, columns: int = 4) -> None:
    """Put the legend of a panel above all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def against_costs(
    rows: Lines, means: Lines, costs: Mapping[str, tuple[str, str]]
) -> dict[str, list[Point]]:
    """Return a panel for each label of `costs`: each mean against its system's (test, metric)."""
    panels: dict[str, list[Point]] = {label: [] for label in costs}
    for label, (test, metric) in costs.items():
        measured = where(rows, test=test, metric=metric)
        values = {row["system"]: float(row["value"]) for row in measured}
        for row in means:
            system, encoder = row["system"], row["system"].partition("+")[0]
            if (cost := values.get(system, values.get(encoder))) is not None:
                panels[label].append((encoder, cost, float(row["value"])))
    return panels


def _look(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}
