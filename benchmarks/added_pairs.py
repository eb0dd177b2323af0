"""Similar pairs that no stage of the pipeline draws: base pairs again, and inputs with each other.

Blocks as `tasks.pair_blocks` makes them, with the strangers that keep similar to dissimilar as in
section `pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from tasks.memberships import Memberships
from tasks.pair_blocks import SOURCES, block, block_size, columns, read_blocks
from tasks.pairs import members_of
from tasks.sections import PairsParams


def repeated_base_pairs(
    pairs: Path, strings: pl.DataFrame, similar: int, params: PairsParams, rng: np.random.Generator
) -> Iterator[pa.Table]:
    """`similar` of the base pairs of a pairs file, drawn again with replacement.

    Args:
        pairs: a pairs file that holds similar pairs of source `base`.
        strings: schema `STRINGS`, of the same stage.
        similar: how many.
        params: section `pairs`.
        rng: consumed in order.
    """
    anchors, others = _similar_base(pairs)
    members = members_of(strings)
    for size in _sizes(similar, params):
        drawn = rng.integers(0, anchors.size, size)
        repeated = np.repeat(anchors[drawn], params.dissimilar_per_similar)
        yield block((anchors[drawn], others[drawn]), repeated, "base", members, rng)


def in_class_pairs(
    strings: pl.DataFrame, similar: int, params: PairsParams, rng: np.random.Generator
) -> Iterator[pa.Table]:
    """`similar` pairs of two judged inputs with a right occupation in common.

    Their strangers stand beside aliases drawn from all, because a stranger is asked of aliases.

    Args:
        strings: schema `STRINGS`, with the rows of role `feedback`; without two inputs of one
            occupation there is no pair.
        similar: how many.
        params: section `pairs`.
        rng: consumed in order.
    """
    known = strings.filter(
        (pl.col("role") == "feedback") & (pl.col("occupation_ids").list.len() > 0)
    )
    if known.is_empty():
        return
    ids, inputs = known["string_id"].to_numpy(), Memberships(known["occupation_ids"])
    rows, aliases = np.flatnonzero(inputs.size > 1), members_of(strings)
    for size in _sizes(similar if rows.size else 0, params):
        entry = rng.choice(rows, size)
        drawn = rng.integers(0, inputs.size[entry] - 1)
        drawn += drawn >= inputs.place[entry]
        anchors, others = inputs.string[entry], inputs.string[inputs.start[entry] + drawn]
        apart = rng.integers(0, len(aliases.codes), size * params.dissimilar_per_similar)
        yield block((ids[anchors], ids[others]), apart, "feedback", aliases, rng)


def _similar_base(pairs: Path) -> tuple[np.ndarray, np.ndarray]:
    anchors, others = [], []
    for table in read_blocks(pairs):
        codes, similar = columns(table)
        base = (codes == SOURCES.index("base")) & (similar == 1)
        anchors.append(table["anchor_id"].to_numpy()[base].astype(np.int64))
        others.append(table["other_id"].to_numpy()[base].astype(np.int64))
    return np.concatenate(anchors), np.concatenate(others)


def _sizes(similar: int, params: PairsParams) -> Iterator[int]:
    for start in range(0, similar, block_size(params)):
        yield min(block_size(params), similar - start)
