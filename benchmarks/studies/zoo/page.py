"""Accuracy against speed and size of every encoder."""

from __future__ import annotations

from benchmarks.pages.plots import against_costs, scatters, svg
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
    panels = against_costs(rows, networks, COSTS)
    label = f"success@1, {PLOTTED}"
    return svg("zoo", lambda whole: scatters(whole, panels, label))
