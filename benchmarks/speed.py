"""Speed and memory, side by side with what a user would pick instead, and the physical limit.

Network: titles per second of training and encoding (`benchmarks.network_speed`). Pairs: pairs per
second and peak memory at growing sizes (`benchmarks.pair_speed`). Medians; `low` and `high` are the
lowest and the highest repeat, `n` the number of repeats. Run it with `python -m benchmarks.speed`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.machine import command, data_folder, machine
from benchmarks.network_speed import (
    Speed,
    alternate,
    matmul_works,
    network_works,
    onnx_work,
    useful_flops,
)
from benchmarks.pair_speed import measure_fresh
from benchmarks.reference import read_reference
from benchmarks.results_file import Row, replace_rows
from benchmarks.training_inputs import TrainingInputs, read_inputs
from tasks.frames import read_frame, write_frame
from tasks.schemas import QUERIES, SPLIT_ALIASES, STRINGS
from tasks.strings_table import base_strings

PAIR_SIZES = (1_250_000, 2_500_000, 5_000_000, 10_000_000)
BYTES_A_PAIR = 4 + 4 + 1 / 8 + 1  # two ids, a bit, a dictionary code


def network_speeds(inputs: TrainingInputs, repeats: int, steps: int, titles: int) -> list[Speed]:
    """Ours, the plain one, the exported one, and the matrix product."""
    works = [*network_works(inputs, steps, titles), onnx_work(inputs, titles)]
    batch = 2 * inputs.settings.batch_pairs
    speeds = alternate([*works, *matmul_works(inputs.settings.encoder, batch)], repeats)
    return speeds + list(useful_flops(inputs, speeds, titles))


def strings_of(taxonomy: str) -> pl.DataFrame:
    """Schema `STRINGS`, aliases only: the stage's for `sample`, the publisher's for `esco`."""
    if taxonomy == "sample":
        strings = read_frame(Path("data/pairs/0/strings.parquet"), STRINGS)
        return strings.filter(pl.col("role") == "alias")
    read = read_reference(data_folder())
    occupation = np.repeat(np.arange(len(read.memberships.sizes)), read.memberships.sizes)
    aliases = pl.DataFrame(
        {
            "occupation_id": [f"{code:05}" for code in occupation],
            "title": [read.titles[title] for title in read.memberships.titles],
            "preferred": [False] * len(occupation),
            "split": ["train"] * len(occupation),
        },
        schema=dict(SPLIT_ALIASES),
    )
    return base_strings(aliases, pl.DataFrame(schema=dict(QUERIES)))


def pair_speeds(taxonomy: str, sizes: Sequence[int], repeats: int) -> Iterator[Speed]:
    """`tasks.pairs` at each size, writing alone, and the obvious ways at a size they can do."""
    asked = [("rolecall", size) for size in sizes] + [("write_only", max(sizes))]
    asked += [("python_loop", size) for size in sizes[:2]]  # two show how its memory grows
    if taxonomy == "sample":  # of ESCO's 32,000 titles a cross join has a thousand million rows
        asked.append(("polars_cross_join", max(sizes)))
    for system, size in asked:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "strings.parquet"
            write_frame(strings_of(taxonomy), file, STRINGS)
            runs = [measure_fresh(system, file, size) for _ in range(repeats)]
        test = "pairs_all" if system == "polars_cross_join" else size_name(size)
        speeds = [run["pairs"] / run["seconds"] for run in runs]
        print(f"speed: {taxonomy}, {system}, {test}: {runs[-1]}", flush=True)
        for metric, figures in (
            ("pairs_per_second", speeds),
            ("seconds", [run["seconds"] for run in runs]),
            ("peak_mib", [run["peak_mib"] for run in runs]),
            ("mib_per_second", [speed * BYTES_A_PAIR / 2**20 for speed in speeds]),
        ):
            middle = float(np.median(figures))
            yield Speed(system, test, metric, middle, min(figures), max(figures), repeats)


def size_name(pairs: int) -> str:
    """`pairs_1.25m` for 1,250,000."""
    return f"pairs_{pairs / 1e6:g}m"


def rows(speeds: list[Speed], dataset: str, seed: int, wanted: str) -> list[Row]:
    """Tidy rows of one data set."""
    common = {"experiment": "speed", "dataset": dataset, "seed": seed}
    common |= {"machine": machine(), "command": wanted}
    return [
        {**common, "n": speed.repeats}
        | {name: getattr(speed, name) for name in Speed._fields if name != "repeats"}
        for speed in speeds
    ]


def main(arguments: list[str] | None = None) -> None:
    """Measure and write `results/speed.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10, help="training steps a repeat")
    parser.add_argument("--titles", type=int, default=4096, help="titles encoded a repeat")
    parser.add_argument("--pair-repeats", type=int, default=3)
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIR_SIZES)
    given = parser.parse_args(arguments)
    options: dict[str, Any] = {
        "repeats": given.repeats,
        "steps": given.steps,
        "titles": given.titles,
    }
    inputs = read_inputs(Path())
    speeds = network_speeds(inputs, **options)
    options |= {"pair_repeats": given.pair_repeats, "pairs": given.pairs}
    esco = (data_folder() / "esco" / "occupations_en.csv").is_file()
    for dataset in ("sample", "esco") if esco else ("sample",):
        speeds += pair_speeds(dataset, given.pairs, given.pair_repeats)
        wanted = command("speed", data=esco, **options)
        replace_rows(rows(speeds, dataset, inputs.settings.seed, wanted))
        speeds = []


if __name__ == "__main__":
    main()
