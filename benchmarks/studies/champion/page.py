"""Accuracy against speed and size, published systems beside."""

from __future__ import annotations

from benchmarks.pages.plots import scatters, svg
from benchmarks.pages.tables import where
from benchmarks.results import Results
from benchmarks.study import study

PLOTTED = "odd/zero_label"
COSTS = {
    "titles answered a second, one thread": ("speed", "titles_per_second"),
    "megabytes": ("size", "megabytes"),
}
"""Label of a panel to test and metric."""


def plot(results: Results) -> str:
    """Draw MRR without any data of the board against what an answer costs."""
    rows = results["champion"]
    means = where(where(rows, test=PLOTTED, metric="mrr"), seed="")
    found = {row["system"]: float(row["value"]) for row in means}
    published = study("champion").face["published"]
    panels = {}
    for label, (test, metric) in COSTS.items():
        costs = {
            row["system"]: float(row["value"]) for row in where(rows, test=test, metric=metric)
        }
        costs |= {name: own[metric] for name, own in published.items() if metric in own}
        heights = found | {name: own["mrr"] for name, own in published.items()}
        panels[label] = [
            (name, cost, heights[name]) for name, cost in costs.items() if name in heights
        ]
    return svg("champion", lambda figure: scatters(figure, panels, "MRR"))
