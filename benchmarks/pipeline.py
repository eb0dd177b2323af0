"""The pipeline's result table, and the encoder's two modes beside each other.

Copies `data/evaluate/K/table.csv` of a workspace that has run (the main tree is the data set
`sample`, `.workspaces/NAME` that of a profile) into tidy rows; a slice becomes a test named
`TEST/SLICE`. On the sample it also trains the encoder in both modes for the same number of steps
and puts them to the same tests. Run it with `python -m benchmarks.pipeline`.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import torch

from benchmarks.machine import command, machine
from benchmarks.results_file import Row, replace_rows
from benchmarks.training_inputs import TrainingInputs, read_inputs
from models.checkpoints import Checkpoints
from models.featurizer import CharacterFeaturizer
from models.recurrent import RecurrentEncoder
from models.training import train
from tasks.evaluate import table as evaluate_table
from tasks.frames import read_frame
from tasks.params import load_params
from tasks.ranking import rank_queries
from tasks.schemas import QUERIES, SPLIT_ALIASES
from tasks.systems import AliasIndex, network

MODES = ("fast", "paper")
LEXICAL = ("ngram", "tfidf")
SAMPLE = "sample"


def workspaces(root: Path) -> dict[str, Path]:
    """Data set to folder, of every workspace below `root` whose evaluation has run."""
    found = {SAMPLE: root} | {path.name: path for path in sorted(root.glob(".workspaces/*"))}
    return {name: path for name, path in found.items() if list(path.glob("data/evaluate/*/*.csv"))}


def table_rows(dataset: str, workspace: Path) -> list[Row]:
    """All systems of the stage in `params.yaml`, and the network of other evaluated stages.

    Raises:
        FileNotFoundError: that stage has not been evaluated.
    """
    params = load_params(workspace / "params.yaml")
    tables = {path.parent.name: path for path in workspace.glob("data/evaluate/*/table.csv")}
    if str(params.stage) not in tables:
        raise FileNotFoundError(f"{workspace}/data/evaluate/{params.stage}: run `make retrain`")
    retrain = "make retrain && "
    if dataset != SAMPLE:
        retrain = f"ROLECALL_DATA=$ROLECALL_DATA make retrain PROFILE={dataset} && "
    rows: list[Row] = []
    for stage, path in sorted(tables.items()):
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                if stage not in (str(params.stage), line["system"]):
                    continue
                seed = params.seed if line["system"] in LEXICAL else params.train.seed
                rows.append(_row(dataset, line, seed, retrain + command("pipeline")))
    return rows


def evaluated(
    workspace: Path, system: str, featurizer: CharacterFeaturizer, encoder: RecurrentEncoder
) -> Iterator[dict[str, str]]:
    """Lines as in `table.csv` for one network, against the index and the tests of a workspace."""
    params = load_params(workspace / "params.yaml")
    aliases = read_frame(workspace / "data/split/aliases.parquet", SPLIT_ALIASES)
    queries = pl.concat(
        read_frame(workspace / "data" / source / "queries.parquet", QUERIES)
        for source in ("typos", "split")
    ).filter(pl.col("part") == "test")
    index = AliasIndex.of(aliases.filter(pl.col("split") == "train"))
    similarities = network(featurizer, encoder, index.titles)
    scores, _ = rank_queries(system, similarities, index, queries, params.evaluate)
    lines = evaluate_table(scores, queries, params.evaluate, params.seed)
    for line in lines.iter_rows(named=True):
        yield {name: str(value) for name, value in line.items()}


def mode_rows(inputs: TrainingInputs, workspace: Path, mode: str, steps: int) -> Iterator[Row]:
    """Train in `mode` for `steps` steps with the settings of `params.yaml`, and evaluate."""
    settings = replace(
        inputs.settings,
        encoder=replace(inputs.settings.encoder, mode=mode),  # type: ignore[arg-type]
        max_steps=steps,
        evaluate_every=max(1, steps // 2),
    )
    wanted = command("pipeline", mode_steps=steps)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        trained = train(
            inputs.strings,
            inputs.pairs,
            inputs.featurizer,
            settings,
            Checkpoints(Path(folder), mode),
            torch.device("cpu"),
        )
    seconds = time.perf_counter() - began
    encoder = RecurrentEncoder(settings.encoder, inputs.featurizer.vocabulary_size)
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
