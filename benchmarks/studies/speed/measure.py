"""Speed and memory, side by side with what a user would pick instead, and the physical limit."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.results import Row
from benchmarks.studies.speed.network import speeds
from benchmarks.timing import fresh, spread
from benchmarks.title_networks import read_inputs
from benchmarks.workspace import SAMPLE, Workspace
from tasks.files.frames import read_frame, write_frame
from tasks.files.schemas import STRINGS
from tasks.params.network import training_settings

NETWORK = "paper"
PAIR_SIZES = (1_250_000, 2_500_000, 5_000_000, 10_000_000)
BYTES_A_PAIR = 4 + 4 + 1 / 8 + 1  # two ids, a bit, a dictionary code


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the speeds of the network, or those of making pairs."""
    workspace = Workspace.read(dataset)
    if dataset == NETWORK:
        settings = training_settings(workspace.params.network, workspace.seed)
        inputs = read_inputs(workspace.pairs(workspace.mix), settings)
        yield speeds(inputs, settings, options.repeats, options.steps, options.titles)
    else:
        yield list(pair_speeds(workspace, options.pairs, options.pair_repeats))


def pair_speeds(workspace: Workspace, sizes: Sequence[int], repeats: int) -> Iterator[Row]:
    """Yield `tasks.pairs` at each size, writing alone, and the obvious ways at what they can do."""
    strings = read_frame(workspace.pairs("0") / "strings.parquet", STRINGS).filter(role="alias")
    works = [("rolecall", size) for size in sizes] + [("write_only", max(sizes))]
    works += [("python_loop", size) for size in sizes[:2]]  # two show how its memory grows
    if workspace.dataset == SAMPLE:  # of ESCO's titles a cross join has a thousand million rows
        works.append(("polars_cross_join", max(sizes)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "strings.parquet"
        write_frame(strings, file, STRINGS)
        for system, size in works:
            words = (str(file), system, str(size))
            runs = [fresh("benchmarks.studies.speed.pairs", *words) for _ in range(repeats)]
            test = "pairs_all" if system == "polars_cross_join" else size_name(size)
            yield from _rows(system, test, runs)


def size_name(pairs: int) -> str:
    """Return `pairs_1.25m` for 1,250,000."""
    return f"pairs_{pairs / 1e6:g}m"


def _rows(system: str, test: str, runs: list[dict[str, float]]) -> Iterator[Row]:
    speeds_of_runs = [run["pairs"] / run["seconds"] for run in runs]
    yield spread(system, test, "pairs_per_second", speeds_of_runs)
    yield spread(system, test, "seconds", [run["seconds"] for run in runs])
    yield spread(system, test, "peak_mib", [run["peak_mib"] for run in runs])
    sizes = [speed * BYTES_A_PAIR / 2**20 for speed in speeds_of_runs]
    yield spread(system, test, "mib_per_second", sizes)
