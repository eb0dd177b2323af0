"""Training pairs of stage K: those of the stage before it and those of its own source.

In, K = 0: `data/split/{aliases,queries}.parquet`; 1 to 3: `data/pairs/K-1/` and the source's
`variants.parquet`; 4 and 4c: `data/pairs/3/` and `data/feedback/verdicts.parquet`. Out:
`data/pairs/K/{strings,pairs}.parquet`. A source's share of the similar pairs stands in
`pairs.shares`; similar to dissimilar is 1 : 4 at every stage (Neculoiu et al. 2016, section 4.2),
and a dissimilar pair of source `base` never shares an occupation.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import polars as pl
import pyarrow as pa

from models.seeding import generator
from models.titles import clean_title
from tasks.command import run
from tasks.feedback_pairs import feedback_pairs, without_outranked
from tasks.frames import Schema, read_frame, write_frame, write_json
from tasks.memberships import Memberships
from tasks.pair_blocks import block, block_size, count, read_blocks, write_blocks
from tasks.params import load_params
from tasks.schemas import (
    EXTRA_WORDS_VARIANTS,
    QUERIES,
    SPLIT_ALIASES,
    STRINGS,
    SYNONYM_VARIANTS,
    VARIANTS,
    VERDICTS,
)
from tasks.sections import PairsParams, Stage
from tasks.strings_table import (
    append,
    base_strings,
    feedback_strings,
    ids_by_title,
    variant_strings,
)


class Source(NamedTuple):
    """What a stage adds: the name of its pairs, its folder in `data/`, its variants' schema."""

    name: str
    folder: str
    schema: Schema


VARIANT_SOURCES = {
    "1": Source("typo", "typos", VARIANTS),
    "2": Source("synonym", "synonyms", SYNONYM_VARIANTS),
    "3": Source("extra_words", "extra_words", EXTRA_WORDS_VARIANTS),
}


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
    members = members_of(strings)
    rows = np.flatnonzero(members.size > 1)
    if not rows.size:
        raise ValueError("no similar pair can be made: every occupation has a single title")
    size, total = block_size(params), rows.size * params.rounds
    for start in range(0, total, size):
        entry = rows[np.arange(start, min(start + size, total)) % rows.size]
        drawn = rng.integers(0, members.size[entry] - 1)
        drawn += drawn >= members.place[entry]
        anchors, others = members.string[entry], members.string[members.start[entry] + drawn]
        repeated = np.repeat(anchors, params.dissimilar_per_similar)
        yield block((anchors, others), repeated, "base", members, rng)


def variant_pairs(
    strings: pl.DataFrame,
    variants: pl.DataFrame,
    source: str,
    similar: int,
    params: PairsParams,
    rng: np.random.Generator,
) -> Iterator[pa.Table]:
    """`similar` pairs of a title and a variant of it, with their dissimilar ones.

    Args:
        strings: schema `STRINGS`, with the rows of role `source`.
        variants: at least schema `VARIANTS`; none give no pairs.
        source: of the pairs.
        similar: how many.
        params: section `pairs`.
        rng: consumed in order.
    """
    members = members_of(strings)
    ids = {role: ids_by_title(strings, role) for role in ("alias", source)}
    anchors = np.array([ids["alias"][title] for title in variants["title"]], np.int64)
    others = np.array([ids[source][clean_title(v)] for v in variants["variant"]], np.int64)
    left = similar if anchors.size else 0
    while left:
        size = min(left, block_size(params))
        drawn = rng.integers(0, anchors.size, size)
        repeated = np.repeat(anchors[drawn], params.dissimilar_per_similar)
        yield block((anchors[drawn], others[drawn]), repeated, source, members, rng)
        left -= size


def new_pairs(similar_before: int, share: float) -> int:
    """How many similar pairs make `share` of all similar ones, these counted.

    n = p · (before + n), so n = p · before / (1 - p).
    """
    return round(share * similar_before / (1 - share))


def members_of(strings: pl.DataFrame) -> Memberships:
    """Of the aliases, which come first in the table."""
    return Memberships(strings.filter(pl.col("role") == "alias")["occupation_ids"])


def counting(
    blocks: Iterator[pa.Table], then: Callable[[int], Iterator[pa.Table]]
) -> Iterator[pa.Table]:
    """`blocks`, and then those of a source that must know how many similar pairs these hold."""
    similar = 0
    for table in blocks:
        similar += sum(n for (_, alike), n in count(table).items() if alike)
        yield table
    yield from then(similar)


def _stage(stage: str, params: PairsParams, seed: int) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """The strings table of the stage and its blocks, from the files of the stages before."""
    rng = generator(seed, "pairs", stage)
    if stage == "0":
        strings = base_strings(
            read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES),
            read_frame(Path("data/split/queries.parquet"), QUERIES),
        )
        return strings, base_pairs(strings, params, rng)
    before = Path(f"data/pairs/{min(3, int(stage[0]) - 1)}")
    strings = read_frame(before / "strings.parquet", STRINGS)
    blocks = read_blocks(before / "pairs.parquet")
    if stage in VARIANT_SOURCES:
        source = VARIANT_SOURCES[stage]
        variants = read_frame(Path(f"data/{source.folder}/variants.parquet"), source.schema)
        if source.name == "extra_words":  # its other parts are queries
            variants = variants.filter(pl.col("part") == "train")
        strings = append(strings, variant_strings(variants, strings, source.name))
        share = getattr(params.shares, source.name)
        return strings, counting(
            blocks,
            lambda similar: variant_pairs(
                strings, variants, source.name, new_pairs(similar, share), params, rng
            ),
        )
    verdicts = read_frame(Path("data/feedback/verdicts.parquet"), VERDICTS)
    corrections = stage == "4c"
    if params.outranked == "dropped":
        blocks = without_outranked(blocks, strings, verdicts, corrections=corrections)
    strings = append(strings, feedback_strings(verdicts, corrections=corrections))
    return strings, counting(
        blocks,
        lambda similar: feedback_pairs(
            strings,
            verdicts,
            members_of(strings),
            new_pairs(similar, params.shares.feedback),
            params,
            rng,
            corrections=corrections,
        ),
    )


def _counts(rows: Counter[tuple[str, bool]], strings: pl.DataFrame) -> dict[str, Any]:
    return {
        "pairs": rows.total(),
        "strings": len(strings),
        "similar": {source: n for (source, similar), n in sorted(rows.items()) if similar},
        "dissimilar": {source: n for (source, similar), n in sorted(rows.items()) if not similar},
    }


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", required=True, choices=get_args(Stage))
    stage = parser.parse_args().stage
    params = load_params()
    folder = Path(f"data/pairs/{stage}")
    strings, blocks = _stage(stage, params.pairs, params.seed)
    rows = write_blocks(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)
    counts = _counts(rows, strings)
    write_json(counts, folder / "metrics.json")
    print(counts)


if __name__ == "__main__":
    run(main)
