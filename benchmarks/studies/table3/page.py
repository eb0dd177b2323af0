"""Success@1 of every mix on the paper's tests, ours and the paper's."""

from __future__ import annotations

from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import datasets, over_seeds, where
from benchmarks.results import Lines
from benchmarks.studies.table3.measure import PAPER
from tasks.io.mixes import MIXES, PAPER_NUMBERS
from tasks.papers.table3.paper import TESTS

PLOTTED = MIXES[:-1]
"""The mixes that the paper has figures of."""


def plot(rows: Lines) -> str:
    """Draw a panel for each test, a line for each data set that has all mixes."""
    means = over_seeds(where(rows, metric="success_at_1"))
    panels = {}
    for test in TESTS:
        lines: dict[str, dict[str, float]] = {}
        for dataset in datasets(means):
            own = where(means, dataset=dataset, test=test)
            lines[dataset] = {row["system"]: float(row["value"]) for row in own}
        lines["Neculoiu et al. 2016"] = dict(PAPER["table3"][test])
        panels[test] = [
            (name, [values.get(mix) for mix in PLOTTED])
            for name, values in lines.items()
            if values.keys() >= {*PLOTTED}
        ]
    ticks = [PAPER_NUMBERS[mix] for mix in PLOTTED]
    label = "mix: " + ", ".join(f"{PAPER_NUMBERS[mix]} {mix}" for mix in PLOTTED)
    return svg("table3", lambda whole: curves(whole, ticks, panels, label, "success@1"))
