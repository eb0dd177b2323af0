"""Pairs per second and peak memory of making pairs, each size in a fresh process.

`python -m benchmarks.pair_speed --strings FILE --system S --pairs N` makes N pairs and prints one
line of JSON. Systems: `rolecall` (`tasks.pairs`), `write_only` (one block of it written again and
again: the speed of Parquet and zstd), and two that a user would write first
(`benchmarks.pairs_obvious`). The peak is the resident size of the whole process: interpreter and
libraries are in it, so this file imports no more than `tasks.pairs` does.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from pathlib import Path

import polars as pl
import pyarrow as pa

from benchmarks.pairs_obvious import polars_cross_join, python_loop
from models.seeding import generator
from tasks.pair_blocks import write_blocks
from tasks.pairs import base_pairs
from tasks.params import load_params
from tasks.sections import PairsParams

ROUNDS = 1_000_000  # more than any size here needs: blocks are taken until there are enough pairs


def rolecall(strings: pl.DataFrame, pairs: int, params: PairsParams) -> Iterator[pa.Table]:
    """Blocks of `tasks.pairs`, the last one cut."""
    many = params.model_copy(update={"rounds": ROUNDS})
    yield from _cut(base_pairs(strings, many, generator(1, "pair_speed")), pairs)


def write_only(strings: pl.DataFrame, pairs: int, params: PairsParams) -> Iterator[pa.Table]:
    """The first block, again and again."""
    block = next(base_pairs(strings, params, generator(1, "pair_speed")))
    yield from _cut(repeat(block), pairs)


SYSTEMS: dict[str, Callable[[pl.DataFrame, int, PairsParams], Iterable[pa.Table]]] = {
    "rolecall": rolecall,
    "write_only": write_only,
    "python_loop": python_loop,
    "polars_cross_join": polars_cross_join,
}


def _cut(blocks: Iterable[pa.Table], pairs: int) -> Iterator[pa.Table]:
    for block in blocks:
        yield block.slice(0, pairs)
        pairs -= len(block)
        if pairs <= 0:
            return


def measure(system: str, strings_file: Path, pairs: int, folder: Path) -> dict[str, float]:
    """Make and write in this process: pairs, seconds, file size in bytes, peak in MiB."""
    strings, params = pl.read_parquet(strings_file), load_params().pairs
    path = folder / "pairs.parquet"
    began = time.perf_counter()
    made = write_blocks(SYSTEMS[system](strings, pairs, params), path).total()
    seconds = time.perf_counter() - began
    size = path.stat().st_size
    return {"pairs": made, "seconds": seconds, "bytes": size, "peak_mib": peak_mib()}


def peak_mib() -> float:
    """Largest resident size that this process has had.

    Linux hands ru_maxrss of the parent down through exec, so its own high-water mark is read there.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="utf-8").splitlines()
        marks = [line.split()[1] for line in lines if line.startswith("VmHWM")]
        if marks:
            return int(marks[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_fresh(system: str, strings_file: Path, pairs: int) -> dict[str, float]:
    """`measure` in a process of its own."""
    words = ["--strings", str(strings_file), "--system", system, "--pairs", str(pairs)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.pair_speed", *words],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    """Print the figures of one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strings", type=Path, required=True)
    parser.add_argument("--system", choices=SYSTEMS, required=True)
    parser.add_argument("--pairs", type=int, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(given.system, given.strings, given.pairs, Path(folder))))


if __name__ == "__main__":
    main()
