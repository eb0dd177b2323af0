"""The paper's Table 3 on our data, its effects and verdicts, as tidy rows.

Copies `data/table3/*.csv` (`tasks/table3.py`, `tasks/effects.py`) of every workspace in which
`make reproduce` has run: the main tree is the data set `sample`, `.workspaces/NAME` that of a
profile. A slice is a test `TEST/SLICE`, a comparison of the models 2 and 1 the system `2-1`. With
several seeds of training the rows without a seed are the means over them. Measures nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.machine import command, machine
from benchmarks.results_file import FOLDER, Row, replace_rows
from tasks.effects import EFFECTS, KEPT_UP
from tasks.params import load_params
from tasks.table3 import STAGES, SUMMARY, TABLE_BY_SEED
from tasks.tables import read_table

SAMPLE = "sample"
NO_ENDS = {"low": None, "high": None}


def workspaces(root: Path) -> dict[str, Path]:
    """Data set to folder, of every workspace below `root` whose stage `table3` has run."""
    found = {SAMPLE: root} | {path.name: path for path in sorted(root.glob(".workspaces/*"))}
    return {name: path for name, path in found.items() if (path / "data/table3/table.csv").exists()}


def rows(dataset: str, workspace: Path, trained_on: str) -> Iterator[Row]:
    """Every row of the four tables of a workspace, and the bounds of training.

    Args:
        dataset: its name in the results.
        workspace: where `make reproduce` has run.
        trained_on: the machine of its networks.

    Raises:
        FileNotFoundError: it has not run there.
    """
    reproduce = "make reproduce"
    if dataset != SAMPLE:
        reproduce = f"ROLECALL_DATA=$ROLECALL_DATA make reproduce PROFILE={dataset}"
    common = {
        "experiment": "table3",
        "dataset": dataset,
        "machine": trained_on,
        "command": f"{reproduce} && {command('table3')}",
    }
    folder = workspace / "data/table3"
    found = [
        *values(read_table(folder / "table.csv", TABLE_BY_SEED)),
        *means(read_table(folder / "summary.csv", SUMMARY)),
        *gains(read_table(folder / "effects.csv", EFFECTS)),
        *verdicts(read_table(folder / "kept_up.csv", KEPT_UP)),
        *bounds(workspace),
    ]
    return ({**common, **row} for row in found)


def values(table: pl.DataFrame) -> Iterator[Row]:
    """Each system and seed, from schema `TABLE_BY_SEED`."""
    for line in table.iter_rows(named=True):
        kept = ("system", "metric", "value", "low", "high", "n", "seed")
        yield {**{name: line[name] for name in kept}, "test": _test(line)}


def means(summary: pl.DataFrame) -> Iterator[Row]:
    """Over seeds, where there are several, and their standard deviation; schema `SUMMARY`."""
    for line in summary.filter(pl.col("deviation").is_not_null()).iter_rows(named=True):
        common = {"system": line["system"], "test": _test(line), "seed": None}
        ends = {"low": line["low"], "high": line["high"], "n": line["n"]}
        yield {**common, "metric": line["metric"], "value": line["mean"], **ends}
        spread = {"metric": f"{line['metric']}_deviation", "value": line["deviation"]}
        yield {**common, **spread, **NO_ENDS, "n": line["seeds"]}


def gains(effects: pl.DataFrame) -> Iterator[Row]:
    """Paired gains, and the share of errors that they remove; schema `EFFECTS`."""
    for line in effects.iter_rows(named=True):
        common = _comparison(line)
        ends = {"low": line["low"], "high": line["high"]}
        yield {**common, "metric": f"gain_{line['metric']}", "value": line["gain"], **ends}
        if line["errors_removed"] is not None:
            removed = {"metric": "errors_removed", "value": line["errors_removed"]}
            yield {**common, **removed, **NO_ENDS}


def verdicts(kept_up: pl.DataFrame) -> Iterator[Row]:
    """Non-inferiority of stage 4 to stage 3, 1 or 0, and the bound it rests on; `KEPT_UP`."""
    for line in kept_up.iter_rows(named=True):
        common = _comparison(line)
        yield {**common, "metric": "non_inferior", "value": float(line["passed"]), **NO_ENDS}
        yield {**common, "metric": "holm_low_success_at_1", "value": line["low"], **NO_ENDS}


def bounds(workspace: Path) -> Iterator[Row]:
    """Updates and similar pairs an update, which `params.yaml` gives all stages alike."""
    params = load_params(workspace / "params.yaml")
    train = params.train
    for stage in STAGES:
        common = {"system": stage, "test": "training", **NO_ENDS, "n": len(params.seeds)}
        for metric, value in (("steps", train.max_steps), ("batch_pairs", train.batch_pairs)):
            yield {**common, "metric": metric, "value": value, "seed": None}


def _test(line: dict[str, Any]) -> str:
    return str(line["test"]) + ("" if line["slice"] == "all" else f"/{line['slice']}")


def _comparison(line: dict[str, Any]) -> Row:
    system = f"{line['system']}-{line['over']}"
    return {"system": system, "test": _test(line), "n": line["n"], "seed": line["seed"]}


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> None:
    """Write `results/table3.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", nargs="+", help="these alone; else all that have run")
    parser.add_argument("--machine", help="what they were trained on, where not on this one")
    given = parser.parse_args(arguments)
    for dataset, workspace in workspaces(Path()).items():
        if not given.dataset or dataset in given.dataset:
            print(f"table3: {dataset}", flush=True)
            replace_rows(list(rows(dataset, workspace, given.machine or machine())), folder)


if __name__ == "__main__":
    main()
