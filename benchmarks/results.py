"""`make results`: measure everything again, then render; `--only NAME` measures a part of it.

Experiments without their data are left out with a word: those of `OUTSIDE` need `$ROLECALL_DATA`,
the others a finished `make retrain`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    attention,
    augmentation_speed,
    charagram,
    contrastive,
    dropout,
    feedback,
    frozen_space,
    pipeline,
    reference,
    render,
    sources,
    speed,
    table3,
    zoo,
)
from benchmarks.machine import data_folder

EXPERIMENTS: dict[str, Callable[[list[str]], None]] = {
    "pipeline": pipeline.main,
    "table3": table3.main,
    "contrastive": contrastive.main,
    "feedback": feedback.main,
    "reference": reference.main,
    "speed": speed.main,
    "sources": sources.main,
    "augmentation": augmentation_speed.main,
    "dropout": dropout.main,
    "zoo": zoo.main,
    "frozen_space": frozen_space.main,
    "attention": attention.main,
    "charagram": charagram.main,
}
PAIRS = Path("data/pairs/0/pairs.parquet")
OUTSIDE = {
    "reference": "jobbert/titles.csv",
    "attention": "sts/sick2014/SICK_train.txt",
    "charagram": "ppdb/ppdb-xl.txt",
}
"""One of the files that an experiment reads below `$ROLECALL_DATA`."""


def missing(experiment: str) -> str | None:
    """What keeps an experiment from running; None if nothing does."""
    if experiment in OUTSIDE:
        here = (data_folder() / OUTSIDE[experiment]).is_file()
        return None if here else f"$ROLECALL_DATA/{OUTSIDE[experiment]} is not there"
    if experiment in ("augmentation", "sources"):
        file = augmentation_speed.NEEDED
        return None if file.is_file() else f"{file} is not there: run `make retrain` first"
    if experiment == "zoo":
        file = Path("data/pairs/3/pairs.parquet")
        return None if file.is_file() else f"{file} is not there: run `make reproduce` first"
    if experiment == "frozen_space":
        folder = Path(".workspaces/ngrams/data/train/1")
        there = list(folder.glob("*/model/weights.safetensors"))
        wanted = f"{folder} holds no model: run `make reproduce PROFILE=ngrams` first"
        return None if there else wanted
    if experiment == "table3":
        file = Path("data/table3/table.csv")
        return None if file.is_file() else f"{file} is not there: run `make reproduce` first"
    if experiment == "feedback":
        file = Path("data/feedback/verdicts.parquet")
        return None if file.is_file() else f"{file} is not there: run `make reproduce` first"
    return None if PAIRS.is_file() else f"{PAIRS} is not there: run `make retrain` first"


def main(arguments: list[str] | None = None) -> None:
    """Measure and render."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=EXPERIMENTS, nargs="+", default=list(EXPERIMENTS))
    given = parser.parse_args(arguments)
    for experiment in given.only:
        reason = missing(experiment)
        if reason:
            print(f"{experiment}: left out, {reason}", flush=True)
            continue
        began = time.perf_counter()
        print(f"{experiment}: measuring", flush=True)
        EXPERIMENTS[experiment]([])
        print(f"{experiment}: {time.perf_counter() - began:.0f} s", flush=True)
    render.main()


if __name__ == "__main__":
    main()
