"""How many titles and inputs each rule of the sources takes or leaves, as tidy rows.

Copies counts from the metrics of the stages `synonyms` and `extra_words` of every
workspace in which they have run: the paper's rules of induction, and the stricter row that asks for
two contexts, among them. Measures nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.augmentation_speed import workspaces
from benchmarks.machine import command, machine
from benchmarks.results_file import Row, replace_rows
from tasks.params import load_params

COUNTED: dict[str, tuple[tuple[str, str], ...]] = {
    "synonyms": (
        ("induction", "induction"),
        ("induction/contexts:1", "induction.at_min_contexts.1"),
        ("induction/contexts:2", "induction.at_min_contexts.2"),
        ("generated/induced", "titles.induced"),
        ("generated/manual", "titles.manual"),
        ("generated", "titles.all"),
        ("composition", "parts.test"),
    ),
    "extra_words": (
        ("mined", "mined"),
        ("mined/source:label_agrees", "mined.by_slice.label_agrees"),
        ("mined/source:label_differs", "mined.by_slice.label_differs"),
    ),
}
"""Stage to test and the place of its counts in the stage's `metrics.json`."""


def rows(dataset: str, workspace: Path) -> Iterator[Row]:
    """Every count of one data set; a stage that has not run gives none."""
    for stage, places in COUNTED.items():
        file = workspace / f"data/{stage}/metrics.json"
        if not file.is_file():
            continue
        metrics = json.loads(file.read_text(encoding="utf-8"))
        for test, place in places:
            for metric, value in _counts(metrics, place):
                yield {
                    "experiment": "sources",
                    "dataset": dataset,
                    "system": stage,
                    "test": test,
                    "metric": metric,
                    "value": value,
                    "low": None,
                    "high": None,
                    "n": value,
                    "seed": load_params(workspace / "params.yaml").seed,
                    "machine": machine(),
                    "command": command("sources"),
                }


def _counts(metrics: dict[str, Any], place: str) -> Iterator[tuple[str, int]]:
    """The numbers at a dotted place, by name; a number itself counts rows. Absent: none."""
    found: Any = metrics
    for name in filter(None, place.split(".")):
        found = found.get(name, {})
    named = found.items() if isinstance(found, dict) else [("rows", found)]
    yield from ((name, value) for name, value in named if isinstance(value, int))


def main(arguments: list[str] | None = None) -> None:
    """Write `results/sources.csv`."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    for dataset, workspace in workspaces(Path()).items():
        replace_rows(list(rows(dataset, workspace)))


if __name__ == "__main__":
    main()
