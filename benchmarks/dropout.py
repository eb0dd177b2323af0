"""The study "recurrent dropout": weights dropped once a batch, or a mask on the state every step.

Trains the encoder of `params.yaml` on a workspace's pairs without recurrent dropout (`none`), with
a fifth of the weights dropped (`weights`, what `models.recurrent` does) and with a mask on the
state at `each_step` (`benchmarks.step_mask`), all from the same weights, and looks at the
validation queries after equal steps and after equal seconds: `python -m benchmarks.dropout`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks.machine import command, machine
from benchmarks.results_file import Row, replace_rows
from benchmarks.step_mask import StepMaskEncoder
from benchmarks.training_inputs import TrainingInputs, read_inputs
from models.intervals import Interval, bootstrap_interval
from models.seeding import child_seed
from models.title_run import TitleRun

DRAWS = 1000
RATE = 0.2  # the paper's
SYSTEMS = ("none", "weights", "each_step")


class Moment(NamedTuple):
    """The state of one run after equal steps or equal seconds."""

    test: str
    steps: int
    seconds: float
    titles: int
    success: float


def start(inputs: TrainingInputs, system: str, seed: int) -> TitleRun:
    """A run of `system`; all of a seed begin with the same weights and see the same pairs."""
    rate = 0.0 if system == "none" else RATE
    encoder_settings = replace(inputs.settings.encoder, dropout_recurrent=rate)
    settings = replace(inputs.settings, seed=seed, encoder=encoder_settings)
    run = TitleRun(inputs.strings, inputs.pairs, inputs.featurizer, settings, torch.device("cpu"))
    if system == "each_step":
        encoder = StepMaskEncoder(settings.encoder, inputs.featurizer.sizes)
        encoder.load_state_dict(run.encoder.state_dict())
        run.encoder = encoder
        run.optimizer = torch.optim.Adam(encoder.parameters(), lr=settings.learning_rate)
    return run


def moments(run: TitleRun, steps: int, seconds: float) -> Iterator[Moment]:
    """Train until both limits are reached; a moment at each. Looks are not counted as seconds."""
    waiting = {"valid_after_steps", "valid_after_seconds"}
    done, spent, titles = 0, 0.0, 0
    while waiting:
        began = time.perf_counter()
        run.step(done)
        spent += time.perf_counter() - began
        titles += encoded(run, done)
        done += 1
        reached = {"valid_after_steps": done >= steps, "valid_after_seconds": spent >= seconds}
        now = sorted(test for test in waiting if reached[test])
        waiting -= set(now)
        success = run.valid_score() if now else 0.0
        for test in now:
            yield Moment(test, done, spent, titles, success)


def encoded(run: TitleRun, step: int) -> int:
    """Strings that a step encoded: each distinct one of its pairs once."""
    pairs = run.similar[run.similar_rows(step)]
    if len(run.dissimilar):
        pairs = torch.cat([pairs, run.dissimilar[run.dissimilar_rows(step)]])
    return len(torch.unique(pairs))


def interval(success: float, queries: int, seed: int) -> Interval:
    """Of a share of hits: the bootstrap needs only how many there are."""
    hits = np.arange(queries) < round(success * queries)
    return bootstrap_interval(hits.astype(float), DRAWS, child_seed(seed, "dropout", "bootstrap"))


def rows(inputs: TrainingInputs, dataset: str, steps: int, seconds: float, seeds: int) -> list[Row]:
    """success@1 on the validation queries, steps, seconds and titles per second of each run."""
    wanted = command("dropout", dataset=dataset, steps=steps, seconds=f"{seconds:g}", seeds=seeds)
    queries = len(inputs.strings.valid)
    table: list[Row] = []
    for seed in range(1, seeds + 1):
        for system in SYSTEMS:
            for moment in moments(start(inputs, system, seed), steps, seconds):
                print(f"dropout: {system}, seed {seed}: {moment}", flush=True)
                common = {
                    "experiment": "dropout",
                    "dataset": dataset,
                    "system": system,
                    "test": moment.test,
                    "n": queries,
                    "seed": seed,
                    "machine": machine(),
                    "command": wanted,
                }
                table += [{**common, **figure} for figure in _figures(moment, queries, seed)]
    return table


def _figures(moment: Moment, queries: int, seed: int) -> Iterator[Row]:
    ends = interval(moment.success, queries, seed)
    yield {"metric": "success_at_1", "value": ends.value, "low": ends.low, "high": ends.high}
    for metric, value in (
        ("steps", moment.steps),
        ("seconds", moment.seconds),
        ("titles_per_second", moment.titles / moment.seconds),
    ):
        yield {"metric": metric, "value": value, "low": None, "high": None}


def main(arguments: list[str] | None = None) -> None:
    """Measure and write `results/dropout.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="sample", help="sample, or a profile that has run")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args(arguments)
    workspace = Path() if given.dataset == "sample" else Path(".workspaces") / given.dataset
    inputs = read_inputs(workspace)
    replace_rows(rows(inputs, given.dataset, given.steps, given.seconds, given.seeds))


if __name__ == "__main__":
    main()
