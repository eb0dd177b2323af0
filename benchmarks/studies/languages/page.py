"""MAP and MRR on MELO's sets by language, published figures beside."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from benchmarks.pages.plots import COLOURS, MARKS, svg
from benchmarks.pages.tables import over_seeds, where
from benchmarks.results import Line, Lines
from benchmarks.study import study

PANELS = {"mean_average_precision": "MAP", "mrr": "MRR"}
SYSTEMS = {
    ("all", "elements"): "Rolecall",
    ("all", "occupations"): "... with occupations known",
    ("tfidf", "elements"): "TF-IDF",
    ("ngram", "elements"): "n-gram matcher",
}
PUBLISHED = "best published"


def plot(rows: Lines) -> str:
    """Draw a panel a metric: a place on the axis for each set, a mark for each system."""
    config = study("languages").config
    sets, published = config["options"]["sets"], config["paper"]
    means = over_seeds(rows)

    def draw(whole: Figure) -> None:
        grid = whole.subplots(1, len(PANELS), sharey=True)
        for axes, (metric, title) in zip(grid, PANELS.items(), strict=True):
            points = _points(where(means, metric=metric), sets)
            points[PUBLISHED] = {name: (published[metric]["all"][name], 0, 0) for name in sets}
            for number, (label, known) in enumerate(points.items()):
                places = [sets.index(name) + 0.1 * (number - 2) for name in known]
                values, below, above = zip(*known.values(), strict=True)
                look: dict[str, Any] = {"color": COLOURS[number], "marker": MARKS[number]}
                look |= {"linestyle": "none", "elinewidth": 0.8, "label": label}
                axes.errorbar(places, values, [below, above], **look)
            axes.set_xticks(range(len(sets)), map(_words, sets))
            axes.set_title(title)
        whole.legend(*grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=5)

    return svg("languages", draw)


def _points(rows: Lines, sets: list[str]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Return value and distance of both ends, of each system's sets that were measured."""
    points: dict[str, dict[str, tuple[float, float, float]]] = {}
    for (system, way), label in SYSTEMS.items():
        tests = {name: where(rows, system=system, test=f"melo/{name}/{way}") for name in sets}
        known = {name: _ends(own[0]) for name, own in tests.items() if own}
        if known:
            points[label] = known
    return points


def _ends(row: Line) -> tuple[float, float, float]:
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    return value, value - low, high - value


def _words(name: str) -> str:
    """`deu_q_de_c_en`: German queries, English elements."""
    _, _, queries, _, elements = name.split("_")
    return f"{queries} → {elements}"
