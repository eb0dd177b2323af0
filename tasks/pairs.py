"""Training pairs of stage k: those of stage k - 1 and those of its own source.

In, k = 0: `data/split/{aliases,queries}.parquet`; k = 1: `data/pairs/0/` and
`data/typos/variants.parquet`. Out: `data/pairs/K/{strings,pairs}.parquet`. Similar to dissimilar
1 : 4 at every stage (Neculoiu et al. 2016, section 4.2); a dissimilar pair never shares an
occupation. Pairs are drawn and written block by block: memory does not grow with their number.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from models.seeding import generator
from models.titles import clean_title
from models.whole_file import whole_file
from tasks.command import run
from tasks.frames import read_frame, write_frame, write_json
from tasks.params import PairsParams, load_params
from tasks.schemas import QUERIES, SPLIT_ALIASES, STRINGS, VARIANTS
from tasks.strings_table import Memberships, base_strings, number, typo_strings

SOURCES = ("base", "typo")
PAIRS = pa.schema(
    [
        ("anchor_id", pa.uint32()),
        ("other_id", pa.uint32()),
        ("similar", pa.bool_()),
        ("source", pa.dictionary(pa.int8(), pa.string())),
    ]
)
MAX_DRAWS = 1000


def base_pairs(
    strings: pl.DataFrame, params: PairsParams, rng: np.random.Generator
) -> Iterator[pa.Table]:
    """Each alias `rounds` times an anchor, its positive drawn from its occupation's others.

    Args:
        strings: schema `STRINGS`.
        params: section `pairs`.
        rng: consumed in order; equal generators give equal pairs.

    Raises:
        ValueError: no occupation has two titles, or all titles share one occupation.
    """
    members = Memberships(strings.filter(pl.col("role") == "alias")["occupation_ids"])
    rows = np.flatnonzero(members.size > 1)
    if not rows.size:
        raise ValueError("no similar pair can be made: every occupation has a single title")
    for anchors in _blocks(rows, params):
        drawn = rng.integers(0, members.size[anchors] - 1)
        drawn += drawn >= members.place[anchors]
        others = members.string[members.start[anchors] + drawn]
        yield from _with_dissimilar(members.string[anchors], others, "base", members, params, rng)


def typo_pairs(
    strings: pl.DataFrame,
    variants: pl.DataFrame,
    base_rows: int,
    params: PairsParams,
    rng: np.random.Generator,
) -> Iterator[pa.Table]:
    """Pairs of a title and a misspelt variant, so many that they are `typo_share` of all rows.

    Args:
        strings: schema `STRINGS`, with the rows of role `typo`.
        variants: schema `VARIANTS`.
        base_rows: rows that stage 0 wrote, dissimilar ones counted.
        params: section `pairs`.
        rng: consumed in order.

    Raises:
        ValueError: there is no variant to pair with.
    """
    members = Memberships(strings.filter(pl.col("role") == "alias")["occupation_ids"])
    ids = {role: _ids_by_title(strings, role) for role in ("alias", "typo")}
    anchors = np.array([ids["alias"][title] for title in variants["title"]], np.int64)
    others = np.array([ids["typo"][clean_title(typo)] for typo in variants["typo"]], np.int64)
    left = typo_count(base_rows, params)
    if left and not anchors.size:
        raise ValueError(
            "no misspelt variant to pair with: raise typos.max_draws or typos.variants"
        )
    while left:
        size = min(left, _block_size(params))
        drawn = rng.integers(0, anchors.size, size)
        yield from _with_dissimilar(anchors[drawn], others[drawn], "typo", members, params, rng)
        left -= size


def typo_count(base_rows: int, params: PairsParams) -> int:
    """How many typo pairs make `typo_share` of all rows, their dissimilar ones counted.

    With share p and d dissimilar pairs to a similar one, T typo pairs bring d·T rows more:
    T = p · (base + (1 + d) · T), so T = p · base / (1 - p · (1 + d)).
    """
    share = params.typo_share
    return round(share * base_rows / (1 - share * (1 + params.dissimilar_per_similar)))


def write_pairs(blocks: Iterable[pa.Table], path: Path) -> int:
    """Write blocks as they come, a row group each; return the number of rows."""
    rows = 0
    with (
        whole_file(path) as partial,
        pq.ParquetWriter(partial, PAIRS, compression="zstd", compression_level=3) as writer,
    ):
        for block in blocks:
            writer.write_table(block, row_group_size=max(1, len(block)))
            rows += len(block)
    return rows


def read_blocks(path: Path) -> Iterator[pa.Table]:
    """The row groups of a pairs file, one at a time."""
    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):
        yield file.read_row_group(group).cast(PAIRS)


def _block_size(params: PairsParams) -> int:
    return max(1, params.row_group // (1 + params.dissimilar_per_similar))


def _blocks(rows: np.ndarray, params: PairsParams) -> Iterator[np.ndarray]:
    """`rows`, repeated `rounds` times, in blocks."""
    size, total = _block_size(params), rows.size * params.rounds
    for start in range(0, total, size):
        yield rows[np.arange(start, min(start + size, total)) % rows.size]


def _with_dissimilar(
    anchors: np.ndarray,
    others: np.ndarray,
    source: str,
    members: Memberships,
    params: PairsParams,
    rng: np.random.Generator,
) -> Iterator[pa.Table]:
    """The similar pairs, then for each anchor its dissimilar ones, which are of source base."""
    repeated = np.repeat(anchors, params.dissimilar_per_similar)
    strangers = _strangers(repeated, members, rng)
    similar = np.arange(anchors.size + repeated.size) < anchors.size
    codes = np.where(similar, SOURCES.index(source), SOURCES.index("base")).astype(np.int8)
    yield pa.Table.from_arrays(
        [
            pa.array(np.concatenate([anchors, repeated]).astype(np.uint32)),
            pa.array(np.concatenate([others, strangers]).astype(np.uint32)),
            pa.array(similar),
            pa.DictionaryArray.from_arrays(codes, pa.array(SOURCES)),
        ],
        schema=PAIRS,
    )


def _strangers(anchors: np.ndarray, members: Memberships, rng: np.random.Generator) -> np.ndarray:
    """For each anchor an alias that shares no occupation with it, drawn uniformly."""
    count = len(members.codes)
    found = rng.integers(0, count, anchors.size)
    for _ in range(MAX_DRAWS):
        wrong = np.flatnonzero(members.share_occupation(anchors, found))
        if not wrong.size:
            return found
        found[wrong] = rng.integers(0, count, wrong.size)
    raise ValueError(
        "no dissimilar pair can be made: (nearly) all titles share an occupation with "
        f"{len(np.unique(anchors[wrong]))} of them; a taxonomy needs two occupations or more"
    )


def _ids_by_title(strings: pl.DataFrame, role: str) -> dict[str, int]:
    rows = strings.filter(pl.col("role") == role)
    return {
        clean_title(title): number
        for number, title in rows.select("string_id", "title").iter_rows()
    }


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", type=int, required=True, choices=range(len(SOURCES)))
    stage = parser.parse_args().stage
    params = load_params()
    rng = generator(params.seed, "pairs", SOURCES[stage])
    folder = Path(f"data/pairs/{stage}")
    if stage == 0:
        strings = base_strings(
            read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES),
            read_frame(Path("data/split/queries.parquet"), QUERIES),
        )
        blocks = base_pairs(strings, params.pairs, rng)
    else:
        before = Path(f"data/pairs/{stage - 1}")
        variants = read_frame(Path("data/typos/variants.parquet"), VARIANTS)
        strings = read_frame(before / "strings.parquet", STRINGS)
        strings = number(pl.concat([strings.drop("string_id"), typo_strings(variants, strings)]))
        blocks = _stage_one(before / "pairs.parquet", strings, variants, params.pairs, rng)
    rows = write_pairs(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)
    write_json({"pairs": rows, "strings": len(strings)}, folder / "metrics.json")
    print(f"{rows} pairs over {len(strings)} strings")


def _stage_one(
    before: Path,
    strings: pl.DataFrame,
    variants: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
) -> Iterator[pa.Table]:
    yield from read_blocks(before)
    base_rows = pq.ParquetFile(before).metadata.num_rows
    yield from typo_pairs(strings, variants, base_rows, params, rng)


if __name__ == "__main__":
    run(main)
