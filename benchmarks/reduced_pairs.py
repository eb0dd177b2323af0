"""A folder of pairs without some of its strings: what is learned when these are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.files.frames import read_frame, write_frame
from tasks.files.schemas import STRINGS
from tasks.pairing.pair_blocks import PAIRS, read_blocks, write_blocks
from tasks.pairing.strings_table import number


def write_reduced(
    pairs: Path, stays: Callable[[pl.DataFrame], np.ndarray], folder: Path
) -> dict[str, int]:
    """Write the strings that stay, and the pairs of two that do; count both.

    Args:
        pairs: folder of a mix.
        stays: says of each row of schema `STRINGS` whether it does.
        folder: where `strings.parquet` and `pairs.parquet` are written.
    """
    strings = read_frame(pairs / "strings.parquet", STRINGS)
    kept = np.asarray(stays(strings), bool)
    rows = write_blocks(_reduced(pairs / "pairs.parquet", kept), folder / "pairs.parquet")
    left = number(strings.filter(pl.Series(kept)))
    write_frame(left, folder / "strings.parquet", STRINGS)
    return {"strings": len(left), "pairs": rows.total()}


def _reduced(path: Path, stays: np.ndarray) -> Iterator[pa.Table]:
    """Yield the blocks of a pairs file with the ids of the strings that stay, counted anew."""
    new = (np.cumsum(stays) - 1).astype(np.uint32)
    for block in read_blocks(path):
        anchors, others = (block[name].to_numpy() for name in ("anchor_id", "other_id"))
        taken = stays[anchors] & stays[others]
        rest = block.filter(pa.array(taken))
        ids = [pa.array(new[side[taken]]) for side in (anchors, others)]
        yield pa.Table.from_arrays([*ids, rest["similar"], rest["source"]], schema=PAIRS)
