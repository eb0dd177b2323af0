"""What makes feedback hurt, and which stage 4 does not: variants of its pairs, trained and tested.

Each of `benchmarks/feedback_variants.py` is trained with the section `train` of a workspace in
which `make reproduce` has run, and compared with model 3 on the same queries: gains, whether it is
non-inferior, what it mends and what it breaks (`benchmarks/feedback_measures.py`). Choices are made
with `--part valid`, which writes `results/feedback_valid.csv`; `--part test` writes
`results/feedback.csv`. Rows are written after each variant: `python -m benchmarks.feedback`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import torch

from benchmarks.feedback_measures import Asked, answers, compared, figures, read_asked
from benchmarks.feedback_training import Training
from benchmarks.feedback_variants import CONTROL, VARIANTS
from benchmarks.machine import command, machine
from benchmarks.results_file import Row, replace_rows
from benchmarks.variant_pairs import read_material
from tasks.params import load_params

EXPERIMENTS = {"test": "feedback", "valid": "feedback_valid"}


def measured(
    name: str, before: dict[int, pl.DataFrame], training: Training, asked: Asked
) -> Iterator[Row]:
    """All rows of one variant, less what all rows of a run have in common.

    Args:
        name: of `VARIANTS`.
        before: seed of training to model 3's answers, schema `SCORES`.
        training: gives the networks.
        asked: the queries.
    """
    for seed, control in before.items():
        if name == CONTROL:
            found = list(figures(control, asked))
        else:
            after = answers(name, training.model(name, seed), asked)
            found = [*figures(after, asked), *compared(control, after, asked)]
        for row in found:
            yield {"system": name, "seed": seed, **row}


def common(dataset: str, part: str, steps: int | None, seeds: list[int]) -> Row:
    """Experiment, data set, machine, and the command that measures every variant again."""
    reproduce = "make reproduce && "
    if dataset != "sample":
        reproduce = f"ROLECALL_DATA=$ROLECALL_DATA make reproduce PROFILE={dataset} && "
    wanted = command("feedback", dataset=dataset, part=part, seeds=seeds)
    wanted += "" if steps is None else f" --steps {steps}"
    return {
        "experiment": EXPERIMENTS[part],
        "dataset": dataset,
        "machine": machine("cuda" if torch.cuda.is_available() else "cpu"),
        "command": reproduce + wanted,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and write `results/feedback.csv` or `results/feedback_valid.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="sample", help="sample, or a profile that has run")
    parser.add_argument("--variants", choices=VARIANTS, nargs="+", default=list(VARIANTS))
    parser.add_argument("--part", choices=EXPERIMENTS, default="test")
    parser.add_argument("--steps", type=int, help="for bounded runs; default: train.max_steps")
    parser.add_argument("--seeds", type=int, nargs="+", help="default: the first of `seeds`")
    parser.add_argument("--models", type=Path, default=Path(".checkpoints/feedback"))
    given = parser.parse_args(arguments)
    workspace = Path() if given.dataset == "sample" else Path(".workspaces") / given.dataset
    params = load_params(workspace / "params.yaml")
    material, seeds = read_material(workspace), given.seeds or params.seeds[:1]
    training = Training(workspace, params, material, given.models, given.steps)
    asked = read_asked(workspace, params, material, given.part)
    shared = common(given.dataset, given.part, given.steps, seeds)
    print(f"feedback: {CONTROL}, which the others are compared with", flush=True)
    before = {seed: answers(CONTROL, training.model(CONTROL, seed), asked) for seed in seeds}
    for number, name in enumerate(given.variants, 1):
        print(f"feedback: {name}, variant {number} of {len(given.variants)}", flush=True)
        rows = [{**shared, **row} for row in measured(name, before, training, asked)]
        replace_rows(rows, only_systems=True)
        for row in rows:
            if row["metric"] in ("gain_over_3", "fix_rate", "side_effects"):
                print(f"  {row['metric']} {row['test']}: {row['value']:.3f}", flush=True)


if __name__ == "__main__":
    main()
