"""Accuracy against speed and size, published systems beside."""

from __future__ import annotations

from benchmarks.pages.plots import scatters, svg
from benchmarks.pages.tables import of, where
from benchmarks.results import Results
from benchmarks.study import study

PLOTTED = "odd/zero_label"
COSTS = {
    "titles answered a second, one thread": ("speed", "titles_per_second"),
    "megabytes": ("size", "megabytes"),
}
"""Label of a panel to test and metric; nobody has published speeds."""


def plot(results: Results) -> str:
    """Draw MRR on the odd half against speed and size; published figures are of its sister."""
    rows = results["champion"]
    asked = where(of(rows, "mrr"), test=PLOTTED, seed="")
    panels = {}
    for label, (test, metric) in COSTS.items():
        costs = {
            row["system"]: float(row["value"]) for row in where(rows, test=test, metric=metric)
        }
        panels[label] = [
            (row["system"], costs[row["system"]], float(row["value"]))
            for row in asked
            if row["system"] in costs
        ]
    for system, figures in study("champion").face["published"].items():
        panels["megabytes"].append((system, figures["megabytes"], figures["mrr"]))
    return svg("champion", lambda whole: scatters(whole, panels, "MRR, nothing of the board known"))
