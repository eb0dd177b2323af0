"""Blocks of training pairs, `anchor_id, other_id, similar, source`: made, written and read.

A block is a row group of the file, so memory does not grow with the number of pairs. Similar to
dissimilar 1 : 4 in every block (Neculoiu et al. 2016, section 4.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from models.reproducibility.atomic_write import atomic_write
from tasks.io.mixes import PAIR_SOURCES
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.string_occupations import StringOccupations

PAIRS = pa.schema(
    [
        ("anchor_id", pa.uint32()),
        ("other_id", pa.uint32()),
        ("similar", pa.bool_()),
        ("source", pa.dictionary(pa.int8(), pa.string())),
    ]
)
MAX_DRAWS = 1000


def block_size(params: PairsParams) -> int:
    """Similar pairs of a block."""
    return max(1, params.row_group // (1 + params.dissimilar_per_similar))


def block(
    similar: tuple[np.ndarray, np.ndarray],
    strangers_to: np.ndarray,
    source: str,
    members: StringOccupations,
    rng: np.random.Generator,
    rejected: tuple[np.ndarray, np.ndarray] = (np.empty(0, np.int64), np.empty(0, np.int64)),
) -> pa.Table:
    """Return one block: similar and rejected pairs of `source`, then dissimilar ones of `base`.

    `similar` and `rejected` (which people called incorrect) are anchors and others, string ids;
    each of `strangers_to`, strings of `members`, gets a stranger.
    """
    strangers = _strangers(strangers_to, members, rng)
    anchors = np.concatenate([similar[0], rejected[0], strangers_to])
    others = np.concatenate([similar[1], rejected[1], strangers])
    codes = np.full(anchors.size, PAIR_SOURCES.index("base"), np.int8)
    codes[: similar[0].size + rejected[0].size] = PAIR_SOURCES.index(source)
    return pa.Table.from_arrays(
        [
            pa.array(anchors.astype(np.uint32)),
            pa.array(others.astype(np.uint32)),
            pa.array(np.arange(anchors.size) < similar[0].size),
            pa.DictionaryArray.from_arrays(codes, pa.array(PAIR_SOURCES)),
        ],
        schema=PAIRS,
    )


def write_blocks(blocks: Iterable[pa.Table], path: Path) -> Counter[tuple[str, bool]]:
    """Write blocks as they come, a row group each; return the rows by (source, similar)."""
    rows: Counter[tuple[str, bool]] = Counter()
    with (
        atomic_write(path) as partial,
        pq.ParquetWriter(partial, PAIRS, compression="zstd", compression_level=3) as writer,
    ):
        for table in blocks:
            writer.write_table(table, row_group_size=max(1, len(table)))
            rows += count(table)
    return rows


def read_blocks(path: Path) -> Iterator[pa.Table]:
    """Yield the row groups of a pairs file, one at a time."""
    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):
        yield file.read_row_group(group).cast(PAIRS)


def count(table: pa.Table) -> Counter[tuple[str, bool]]:
    """Return rows of a block by (source, similar)."""
    rows = pl.DataFrame(table).group_by("source", "similar").len()
    return Counter({(source, similar): n for source, similar, n in rows.iter_rows()})


def _strangers(
    anchors: np.ndarray, members: StringOccupations, rng: np.random.Generator
) -> np.ndarray:
    """For each anchor a string of `members` that shares no occupation with it, drawn uniformly."""
    strangers = members.ids[rng.integers(0, members.ids.size, anchors.size)]
    for _ in range(MAX_DRAWS):
        wrong = np.flatnonzero(members.share_occupation(anchors, strangers))
        if not wrong.size:
            return strangers
        strangers[wrong] = members.ids[rng.integers(0, members.ids.size, wrong.size)]
    raise ValueError(
        "no dissimilar pair can be made: (nearly) all titles share an occupation with "
        f"{len(np.unique(anchors[wrong]))} of them; a taxonomy needs two occupations or more"
    )
