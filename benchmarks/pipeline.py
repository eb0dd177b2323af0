"""The pipeline's result table, and the encoder's two modes beside each other.

Copies `data/lexical/table.csv` and, of the seed that serves, `data/evaluate/K/SEED/table.csv` of a
workspace that has run (the main tree is the data set `sample`, `.workspaces/NAME` that of a
profile) into tidy rows; a slice becomes a test named `TEST/SLICE`. On the sample it also trains
the encoder in both modes for the same number of steps and puts them to the same tests. Run it with
`python -m benchmarks.pipeline`.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.machine import command, machine
from benchmarks.results_file import Row, replace_rows
from benchmarks.training_inputs import TrainingInputs, read_inputs
from models.checkpoints import Checkpoints
from models.encoder import Encoder
from models.featurizer import Featurizer
from models.kinds import make_encoder
from models.title_run import TitleRun
from models.training import train
from tasks.measured import read_index
from tasks.params import load_params
from tasks.queries import read_queries
from tasks.ranking import rank_queries
from tasks.systems import network
from tasks.tables import table as tidy_table

MODES = ("fast", "paper")
SAMPLE = "sample"


def workspaces(root: Path) -> dict[str, Path]:
    """Data set to folder, of every workspace below `root` whose evaluation has run."""
    found = {SAMPLE: root} | {path.name: path for path in sorted(root.glob(".workspaces/*"))}
    return {
        name: path for name, path in found.items() if list(path.glob("data/evaluate/*/*/*.csv"))
    }


def table_rows(dataset: str, workspace: Path) -> list[Row]:
    """The lexical systems, both of the stage in `params.yaml`, the network of other stages.

    Raises:
        FileNotFoundError: that stage has not been evaluated.
    """
    params = load_params(workspace / "params.yaml")
    seed = params.seeds[0]
    found = sorted(workspace.glob(f"data/evaluate/*/{seed}/table.csv"))
    tables = {path.parts[-3]: path for path in found}
    if params.stage not in tables:
        folder = workspace / f"data/evaluate/{params.stage}/{seed}"
        raise FileNotFoundError(f"{folder}/table.csv is missing: run `make retrain` first")
    retrain = "make retrain && "
    if dataset != SAMPLE:
        retrain = f"ROLECALL_DATA=$ROLECALL_DATA make retrain PROFILE={dataset} && "
    wanted = retrain + command("pipeline")
    lexical = _lines(workspace / "data/lexical/table.csv")
    rows = [_row(dataset, line, params.seed, wanted) for line in lexical]
    for stage, path in tables.items():
        # the untrained network of one stage stands for those of all
        lines = [line for line in _lines(path) if stage in (params.stage, line["system"])]
        rows += [_row(dataset, line, seed, wanted) for line in lines]
    return rows


def _lines(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def evaluated(
    workspace: Path, system: str, featurizer: Featurizer, encoder: Encoder
) -> Iterator[dict[str, str]]:
    """Lines as in `table.csv` for one network, against the index and the tests of a workspace."""
    params = load_params(workspace / "params.yaml")
    queries, index = read_queries("test", workspace / "data"), read_index(workspace / "data")
    similarities = network(featurizer, encoder, index.titles)
    scores, _ = rank_queries(system, similarities, index, queries, params.evaluate)
    lines = tidy_table(scores, queries, params.evaluate.bootstrap_draws, params.seed)
    for line in lines.iter_rows(named=True):
        yield {name: str(value) for name, value in line.items()}


def mode_rows(inputs: TrainingInputs, workspace: Path, mode: str, steps: int) -> Iterator[Row]:
    """Train in `mode` for `steps` steps with the settings of `params.yaml`, and evaluate."""
    settings = replace(
        inputs.settings,
        encoder=replace(inputs.settings.encoder, mode=mode),
        max_steps=steps,
        evaluate_every=max(1, steps // 2),
    )
    wanted = command("pipeline", mode_steps=steps)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run = TitleRun(
            inputs.strings, inputs.pairs, inputs.featurizer, settings, torch.device("cpu")
        )
        trained = train(run, Checkpoints(Path(folder), mode))
    seconds = time.perf_counter() - began
    encoder = make_encoder(settings.encoder, inputs.featurizer)
    encoder.load_state_dict(trained.weights)
    for line in evaluated(workspace, mode, inputs.featurizer, encoder):
        yield _row(SAMPLE, line, settings.seed, wanted)
    for metric, value in (("steps", steps), ("seconds", seconds)):
        line = {"system": mode, "test": "training", "slice": "all", "metric": metric, "n": "1"}
        yield _row(SAMPLE, {**line, "value": str(value)}, settings.seed, wanted)


def _row(dataset: str, line: dict[str, str], seed: int, wanted: str) -> Row:
    part = "" if line["slice"] == "all" else f"/{line['slice']}"
    ends = {name: float(line[name]) if line.get(name) else None for name in ("low", "high")}
    return {
        "experiment": "pipeline",
        "dataset": dataset,
        "system": line["system"],
        "test": line["test"] + part,
        "metric": line["metric"],
        "value": float(line["value"]),
        **ends,
        "n": int(line["n"]),
        "seed": seed,
        "machine": machine(),
        "command": wanted,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and write `results/pipeline.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode-steps", type=int, default=150, help="0 leaves the two modes out")
    given = parser.parse_args(arguments)
    found = workspaces(Path())
    for dataset, workspace in found.items():
        print(f"pipeline: {dataset}", flush=True)
        replace_rows(table_rows(dataset, workspace), only_systems=True)
    if given.mode_steps and SAMPLE in found:
        inputs = read_inputs(found[SAMPLE])
        for mode in MODES:
            print(f"pipeline: mode {mode}, {given.mode_steps} steps", flush=True)
            rows = list(mode_rows(inputs, found[SAMPLE], mode, given.mode_steps))
            replace_rows(rows, only_systems=True)


if __name__ == "__main__":
    main()
