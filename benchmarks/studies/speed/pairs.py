"""Pairs per second and peak memory of making pairs, each size in a fresh process.

`python -m benchmarks.studies.speed.pairs FILE SYSTEM N` makes N pairs of the strings in FILE and
prints one line of JSON. Systems: `rolecall` (`tasks.pairs`), `write_only` (one block of it written
again and again: the speed of Parquet and zstd), and two that a user would write first
(`obvious_pairs.py`). The peak is the resident size of the whole process: interpreter and libraries
are in it, so this file imports no more than `tasks.pairs` does.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from pathlib import Path

import polars as pl
import pyarrow as pa

from benchmarks.studies.speed.obvious_pairs import polars_cross_join, python_loop
from benchmarks.timing import peak_mib
from models.repeatable.seeding import generator
from tasks.pairing.drawn_pairs import base_pairs
from tasks.pairing.pair_blocks import write_blocks
from tasks.pairs import PairsParams
from tasks.params.section import load

ROUNDS = 1_000_000  # more than any size here needs: blocks are taken until there are enough pairs


def rolecall(strings: pl.DataFrame, pairs: int, params: PairsParams) -> Iterator[pa.Table]:
    """Yield blocks of `tasks.pairs`, the last one cut."""
    many = params.model_copy(update={"rounds": ROUNDS})
    yield from _cut(base_pairs(strings, many, generator(1, "pair_speed")), pairs)


def write_only(strings: pl.DataFrame, pairs: int, params: PairsParams) -> Iterator[pa.Table]:
    """Yield the first block, again and again."""
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
    """Make and write in this process; return pairs, seconds and this process's peak in MiB."""
    strings, params = pl.read_parquet(strings_file), load(PairsParams)
    path = folder / "pairs.parquet"
    began = time.perf_counter()
    made = write_blocks(SYSTEMS[system](strings, pairs, params), path).total()
    seconds = time.perf_counter() - began
    return {"pairs": made, "seconds": seconds, "peak_mib": peak_mib()}


def main() -> None:
    """Print the figures of one size."""
    file, system, pairs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(system, Path(file), int(pairs), Path(folder))))


if __name__ == "__main__":
    main()
