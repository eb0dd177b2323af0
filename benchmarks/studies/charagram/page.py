"""Figure 1 of Wieting et al. 2016: learning curves."""

from __future__ import annotations

from statistics import mean

from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import distinct, where
from benchmarks.results import Lines


def plot(rows: Lines) -> str:
    """Draw the means over seeds by examples seen."""
    rows = [row for row in rows if row["test"].startswith("examples_")]
    ticks = sorted(distinct(rows, "test"))
    panels = {}
    for metric, title in (
        ("spearman", "ρ on SimLex-999"),
        ("valid_success_at_1", "held-out links found"),
    ):
        panels[title] = [
            (system, [mean(float(row["value"]) for row in where(own, test=t)) for t in ticks])
            for system in distinct(rows, "system")
            if (own := where(rows, metric=metric, system=system))
        ]
    seen = [float(tick.removeprefix("examples_")) / 1000 for tick in ticks]
    return svg("charagram", lambda whole: curves(whole, seen, panels, "thousand pairs seen"))
