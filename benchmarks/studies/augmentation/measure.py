"""Seconds and peak memory of making the data of mixes 2 and 3, each in a process of its own."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.results import Row
from benchmarks.studies.augmentation.works import WORKS
from benchmarks.timing import fresh, spread
from benchmarks.workspace import place


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield all figures of one data set."""
    rows = []
    for test in WORKS:
        words = (str(place(dataset)), test)
        module = "benchmarks.studies.augmentation.works"
        runs = [fresh(module, *words) for _ in range(options.repeats)]
        for metric in runs[0]:
            row = spread("rolecall", test, metric, [run[metric] for run in runs])
            rows.append(row._replace(low=None, high=None) if metric == "rows" else row)
    yield rows
