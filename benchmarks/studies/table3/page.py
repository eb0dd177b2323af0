"""Success@1 of every mix on the paper's tests, ours and the paper's."""

from __future__ import annotations

from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import datasets, over_seeds, where
from benchmarks.results import Lines
from benchmarks.studies.table3.measure import PAPER
from tasks.papers.table3.paper import TESTS

PLOTTED = ("0", "1", "2", "3", "4")
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
    label = "mix of sources that the network is trained on"
    return svg("table3", lambda whole: curves(whole, PLOTTED, panels, label, "success@1"))
