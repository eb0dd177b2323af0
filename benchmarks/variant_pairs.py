"""The pairs of a variant of stage 4, from those of stage 3 and people's verdicts.

Variants `4` and `4c` draw the very pairs of those stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa

from benchmarks.added_pairs import in_class_pairs, repeated_base_pairs
from benchmarks.feedback_variants import Variant
from benchmarks.noisy_verdicts import noisy
from models.seeding import generator
from tasks.feedback_pairs import feedback_pairs, without_outranked
from tasks.frames import read_frame
from tasks.pair_blocks import SOURCES, columns, read_blocks
from tasks.pairs import counting, members_of, new_pairs
from tasks.schemas import STRINGS, VERDICTS
from tasks.sections import PairsParams
from tasks.strings_table import append, feedback_strings

FEEDBACK = SOURCES.index("feedback")


class Material(NamedTuple):
    """What every variant is made of: schemas `STRINGS` and `VERDICTS`, and a pairs file."""

    strings: pl.DataFrame
    pairs: Path
    verdicts: pl.DataFrame


def read_material(workspace: Path) -> Material:
    """Strings and pairs of stage 3, and the verdicts.

    Raises:
        FileNotFoundError: the pipeline has not run there.
    """
    folder, verdicts = workspace / "data/pairs/3", workspace / "data/feedback/verdicts.parquet"
    for path in (folder / "pairs.parquet", verdicts):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing: run `make reproduce` first")
    strings = read_frame(folder / "strings.parquet", STRINGS)
    return Material(strings, folder / "pairs.parquet", read_frame(verdicts, VERDICTS))


def variant_pairs(
    variant: Variant, material: Material, params: PairsParams, seed: int
) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """The strings table (schema `STRINGS`) and the blocks of pairs of one variant.

    Args:
        variant: what is made.
        material: what it is made of.
        params: section `pairs`.
        seed: the pipeline's seed.
    """
    rng = generator(seed, "pairs", "4c" if variant.corrections else "4")
    params = _changed(params, variant)
    blocks, share = read_blocks(material.pairs), params.shares.feedback
    if variant.verdicts == "none":
        if not variant.repeated_base:
            return material.strings, blocks
        return material.strings, counting(
            blocks,
            lambda similar: repeated_base_pairs(
                material.pairs, material.strings, new_pairs(similar, share), params, rng
            ),
        )
    verdicts = known_verdicts(variant, material, seed)
    if params.outranked == "dropped":
        blocks = without_outranked(
            blocks, material.strings, verdicts, corrections=variant.corrections
        )
    strings = append(material.strings, feedback_strings(verdicts, corrections=variant.corrections))

    def added(similar: int) -> Iterator[pa.Table]:
        count, members = new_pairs(similar, share), members_of(strings)
        given = feedback_pairs(
            strings, verdicts, members, count, params, rng, corrections=variant.corrections
        )
        return chain(given, in_class_pairs(strings, count if variant.in_class else 0, params, rng))

    return strings, _kept(counting(blocks, added), variant)


def known_verdicts(variant: Variant, material: Material, seed: int) -> pl.DataFrame:
    """The verdicts that a variant knows, with its noise: schema `VERDICTS`."""
    verdicts = material.verdicts
    if variant.verdicts in ("right", "wrong"):
        verdicts = verdicts.filter(pl.col("right") == (variant.verdicts == "right"))
    aliases = material.strings.filter(pl.col("role") == "alias")
    occupations = aliases["occupation_ids"].explode().unique().sort().to_list()
    return noisy(verdicts, variant.noise, occupations, generator(seed, "feedback", "noise"))


def _changed(params: PairsParams, variant: Variant) -> PairsParams:
    share = params.shares.feedback if variant.share is None else variant.share
    shares = params.shares.model_copy(update={"feedback": share})
    outranked = variant.outranked or params.outranked
    return params.model_copy(update={"shares": shares, "outranked": outranked})


def _kept(blocks: Iterator[pa.Table], variant: Variant) -> Iterator[pa.Table]:
    """`blocks` without the rows that a variant does not learn from."""
    for table in blocks:
        codes, similar = columns(table)
        own = codes == FEEDBACK
        wanted = own | (not variant.only_feedback)
        yield table.filter(pa.array(wanted & (variant.rejections | ~own | (similar == 1))))
