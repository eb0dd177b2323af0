"""Accuracy against speed and size of every encoder."""

from __future__ import annotations

from benchmarks.pages.plots import scatters, svg
from benchmarks.pages.tables import where
from benchmarks.pages.unlearned import MARK, UNLEARNED
from benchmarks.results import Lines

PLOTTED = "annotations"
COSTS = {
    "titles encoded a second, one thread": ("encoding", "titles_per_second"),
    "megabytes": ("training", "megabytes"),
}
"""Label of a panel to test and metric."""


def plot(rows: Lines) -> str:
    """Draw success@1 on Annotations against speed and size of the networks that learned."""
    rows = where(rows, dataset="sample")
    means = where(rows, metric="success_at_1", test=PLOTTED, seed="")
    networks = [row for row in means if row[MARK] != UNLEARNED]
    panels = {}
    for label, (test, metric) in COSTS.items():
        costs = {
            row["system"]: float(row["value"]) for row in where(rows, test=test, metric=metric)
        }
        points = []
        for row in networks:
            system, encoder = row["system"], row["system"].partition("+")[0]
            cost = costs.get(system, costs.get(encoder))  # an encoder's holds with all its losses
            if cost is not None:
                points.append((encoder, cost, float(row["value"])))
        panels[label] = points
    label = f"success@1, {PLOTTED}"
    return svg("zoo", lambda whole: scatters(whole, panels, label))
