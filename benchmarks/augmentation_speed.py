"""Seconds and peak memory of making the data of stages 2 and 3, each in a process of its own.

Induction is measured on the taxonomy and on 4 and 16 copies of it with words and occupations of
their own, so that its time a title shows how it grows; the whole stages `synonyms` and
`extra_words`, and pairs of the base taxonomy and synonyms, on the taxonomy alone. Reading is not
timed, writing that of pairs. Medians; `low` and `high` are the lowest and the highest repeat. Run
it with `python -m benchmarks.augmentation_speed`; `--measure TEST` prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.augmentation_works import WORKS, Files
from benchmarks.machine import command, machine
from benchmarks.pair_speed import peak_mib
from benchmarks.results_file import Row, replace_rows
from tasks.params import load_params

SAMPLE = "sample"
NEEDED = Path("data/synonyms/variants.parquet")


def measure(test: str, workspace: Path) -> dict[str, float]:
    """Rows, seconds, microseconds a row, and this process's peak in MiB."""
    work = WORKS[test](Files(workspace))
    began = time.perf_counter()
    count = work()
    seconds = time.perf_counter() - began
    each = 1e6 * seconds / max(1, count)
    return {"rows": count, "seconds": seconds, "microseconds_per_row": each, "peak_mib": peak_mib()}


def measure_fresh(test: str, workspace: Path) -> dict[str, float]:
    """`measure` in a process of its own."""
    words = ["--measure", test, "--workspace", str(workspace)]
    module = [sys.executable, "-m", "benchmarks.augmentation_speed"]
    done = subprocess.run([*module, *words], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def workspaces(root: Path) -> dict[str, Path]:
    """Data set to folder, where synonyms have been made."""
    found = {SAMPLE: root} | {path.name: path for path in sorted(root.glob(".workspaces/*"))}
    return {name: path for name, path in found.items() if (path / NEEDED).is_file()}


def rows(dataset: str, workspace: Path, repeats: int) -> Iterator[Row]:
    """Tidy rows of one data set."""
    for test in WORKS:
        runs = [measure_fresh(test, workspace) for _ in range(repeats)]
        print(f"augmentation: {dataset}, {test}: {runs[-1]}", flush=True)
        for metric in runs[0]:
            figures = [run[metric] for run in runs]
            spread = {} if metric == "rows" else {"low": min(figures), "high": max(figures)}
            yield {
                "experiment": "augmentation",
                "dataset": dataset,
                "system": "rolecall",
                "test": test,
                "metric": metric,
                "value": float(np.median(figures)),
                "low": None,
                "high": None,
                **spread,
                "n": repeats,
                "seed": load_params(workspace / "params.yaml").seed,
                "machine": machine(),
                "command": command("augmentation_speed", repeats=repeats),
            }


def main(arguments: list[str] | None = None) -> None:
    """Measure and write `results/augmentation.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", choices=WORKS, help="this alone, here, and print it")
    parser.add_argument("--workspace", type=Path, default=Path())
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(measure(given.measure, given.workspace)))
        return
    for dataset, workspace in workspaces(Path()).items():
        replace_rows(list(rows(dataset, workspace, given.repeats)))


if __name__ == "__main__":
    main()
