"""A network trained on another machine, put to the tests of a workspace: rows of `pipeline`.

The folder is what `python -m models.train_files --out FOLDER` wrote there (`model/` and
`history.csv`) from this workspace's `data/pairs/K/`. Its rows go into `results/pipeline.csv` under
a system name of their own, and never into `dvc.lock`.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from benchmarks.pipeline import SAMPLE, evaluated
from benchmarks.results_file import Row, replace_rows
from models.model_files import load_model


def rows(
    folder: Path, dataset: str, workspace: Path, system: str, seed: int, machine: str
) -> Iterator[Row]:
    """All tests with slices, and how many steps were trained."""
    featurizer, encoder = load_model(folder / "model")
    common = {
        "experiment": "pipeline",
        "dataset": dataset,
        "system": system,
        "seed": seed,
        "machine": machine,
        "command": "python -m models.train_files (there), python -m benchmarks.elsewhere (here)",
    }
    for line in evaluated(workspace, system, featurizer, encoder):
        part = "" if line["slice"] == "all" else f"/{line['slice']}"
        ends = {name: float(line[name]) for name in ("value", "low", "high")}
        names = {"test": line["test"] + part, "metric": line["metric"], "n": int(line["n"])}
        yield {**common, **names, **ends}
    with (folder / "history.csv").open(encoding="utf-8", newline="") as file:
        steps = max(int(look["step"]) for look in csv.DictReader(file))
    none = {"low": None, "high": None, "n": 1}
    yield {**common, "test": "training", "metric": "steps", "value": steps, **none}


def main(arguments: list[str] | None = None) -> None:
    """Evaluate and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dataset", required=True, help="sample, or a profile that has run")
    parser.add_argument("--system", required=True, help="its name in the tables")
    parser.add_argument("--seed", type=int, required=True, help="of its settings")
    parser.add_argument("--machine", required=True, help="GPU, cores, memory of the other machine")
    given = parser.parse_args(arguments)
    workspace = Path() if given.dataset == SAMPLE else Path(".workspaces") / given.dataset
    replace_rows(
        list(rows(given.folder, given.dataset, workspace, given.system, given.seed, given.machine)),
        only_systems=True,
    )


if __name__ == "__main__":
    main()
