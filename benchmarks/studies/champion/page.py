"""Accuracy against speed and size, published systems beside."""

from __future__ import annotations

from benchmarks.pages.plots import against_costs, scatters, svg
from benchmarks.pages.tables import where
from benchmarks.results import Lines

PLOTTED = "odd/zero_label"
COSTS = {
    "titles answered a second, one thread": ("speed", "titles_per_second"),
    "megabytes": ("size", "megabytes"),
}
"""Label of a panel to test and metric; nobody has published speeds."""
PUBLISHED = [("JobBERT-v2", 436.0, 0.390), ("best published", 436.0, 0.393)]
"""Megabytes and MRR on the board's other titles; 109 million parameters of four bytes."""


def plot(rows: Lines) -> str:
    """Draw MRR on the odd half against speed and size; published figures are of its sister."""
    means = where(rows, metric="mrr", test=PLOTTED, seed="")
    panels = against_costs(rows, means, COSTS)
    panels["megabytes"] += PUBLISHED
    return svg("champion", lambda whole: scatters(whole, panels, "MRR, no data of the board"))
