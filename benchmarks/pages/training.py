"""How long networks were trained, and which were stopped while they were still getting better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from benchmarks.pages.tables import markdown, where
from benchmarks.results import BEST_STEP, LAST_STEP, Lines

HEAD = ("dataset", "system", "best look at step", "ended at step", "")
RISING = "best at its end"


def training(rows: Lines) -> Iterator[str]:
    """Yield a table of the steps of every network, those of a system's seeds in one line."""
    steps: dict[str, defaultdict[tuple[str, str], dict[str, str]]] = {}
    for metric in (BEST_STEP, LAST_STEP):
        steps[metric] = defaultdict(dict)
        for row in where(rows, test="training", metric=metric):
            steps[metric][row["dataset"], row["system"]][row["seed"]] = row["value"]
    lines = []
    for (dataset, system), last in sorted(steps[LAST_STEP].items()):
        best = steps[BEST_STEP][dataset, system]
        rising = [seed for seed, step in last.items() if best[seed] == step]
        note = f"{RISING}: seed {', '.join(rising)}" if rising else ""
        lines.append((dataset, system, ", ".join(best.values()), ", ".join(last.values()), note))
    if lines:
        yield "### How long networks trained"
        yield "Longer training may help a network that is best at its end."
        yield markdown(HEAD, lines)
