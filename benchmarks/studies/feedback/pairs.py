"""The pairs of a variant, from those of mix 3 and people's verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from benchmarks.studies.feedback.opinions import PIPELINE, opinions
from benchmarks.studies.feedback.variants import CONTROL, Variant
from benchmarks.workspace import Workspace
from models.repeatable.seeding import generator
from tasks.files.frames import read_frame
from tasks.files.schemas import STRINGS
from tasks.files.sources import PAIR_SOURCES
from tasks.files.titles import normalized
from tasks.pairing.drawn_pairs import new_pairs
from tasks.pairing.feedback_pairs import feedback_pairs, without_outranked
from tasks.pairing.pair_blocks import columns, read_blocks
from tasks.pairing.strings_table import append, feedback_strings
from tasks.pairs import PairsParams, counting

FEEDBACK = PAIR_SOURCES.index("feedback")
AS_MANY = 2**20
"""Pairs of a verdict, where the share of feedback says how many there are."""


class Material(NamedTuple):
    """What every variant is made of: schema `STRINGS`, a pairs file, and `VERDICTS` by kind."""

    strings: pl.DataFrame
    pairs: Path
    verdicts: dict[str, pl.DataFrame]

    def known(self, variant: Variant, seed: int) -> pl.DataFrame:
        """Return the verdicts that a variant knows; fewer are among those of more."""
        known = self.verdicts[variant.opinions]
        if variant.most is not None:
            order = generator(seed, "feedback", "verdicts").permutation(len(known))
            known = known[sorted(order[: variant.most].tolist())]
        if variant.noise:
            draws = generator(seed, "feedback", "noise").random(len(known))
            known = flipped(known, draws < variant.noise)
        wanted = {"all": [True, False], "right": [True], "wrong": [False], "none": []}
        return known.filter(pl.col("right").is_in(wanted[variant.verdicts]))


def read_material(workspace: Workspace, kinds: set[str]) -> Material:
    """Read strings and pairs of mix 3, and the verdicts of each kind (`opinions.py`)."""
    folder = workspace.pairs(CONTROL)
    if not (folder / "pairs.parquet").is_file():
        raise FileNotFoundError(f"{folder}/pairs.parquet is missing: run `make reproduce`")
    strings = read_frame(folder / "strings.parquet", STRINGS)
    trained = set(normalized(strings["title"]))
    known = {kind: opinions(kind, workspace, trained) for kind in sorted({*kinds, PIPELINE})}
    return Material(strings, folder / "pairs.parquet", known)


def flipped(verdicts: pl.DataFrame, chosen: np.ndarray) -> pl.DataFrame:
    """Return the same with the `chosen` rows called right if wrong, and wrong if right."""
    opposite = pl.Series(chosen)
    kept = pl.when(~opposite).then("corrected_occupation_id")
    return verdicts.with_columns(right=pl.col("right") ^ opposite, corrected_occupation_id=kept)


def variant_pairs(
    variant: Variant, material: Material, verdicts: pl.DataFrame, params: PairsParams, seed: int
) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings table (schema `STRINGS`) and the blocks of pairs of one variant."""
    blocks = read_blocks(material.pairs)
    if variant.verdicts == "none":
        return material.strings, blocks
    own = params.model_copy(update=_changes(variant, params))
    rng = generator(seed, "pairs", "4c" if variant.corrections else "4")
    learned = {"corrections": variant.corrections}
    if (variant.outranked or own.outranked) == "dropped" and variant.others == "mix 3":
        blocks = without_outranked(blocks, material.strings, verdicts, **learned)
    strings = append(material.strings, feedback_strings(verdicts, **learned))

    def added(similar: int) -> Iterator[pa.Table]:
        count = new_pairs(similar, own.shares["feedback"])
        return feedback_pairs(strings, verdicts, count, own, rng, **learned)

    if variant.others == "repeated":
        return material.strings, counting(blocks, lambda similar: _again(material, added(similar)))
    made = counting(blocks, added)
    if not variant.rejections:
        made = without_rejections(made)
    return strings, _feedback_alone(made) if variant.others == "none" else made


def without_rejections(blocks: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield `blocks` without the dissimilar pairs of feedback."""
    for table in blocks:
        codes, similar = columns(table)
        yield table.filter(pa.array((codes != FEEDBACK) | (similar == 1)))


def _changes(variant: Variant, params: PairsParams) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if variant.share is not None:
        shares = {**params.shares, "feedback": variant.share}
        changes |= {"shares": shares, "verdict_rounds": AS_MANY}
    if variant.union:
        changes["variants_meet"] = "occupation"
    return changes


def _again(material: Material, instead: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the first similar pairs of mix 3 again, as many as there are in `instead`."""
    wanted = sum(int(columns(table)[1].sum()) for table in instead)
    for table in read_blocks(material.pairs):
        alike = table.filter(pa.array(columns(table)[1] == 1))[:wanted]
        wanted -= len(alike)
        yield alike
        if not wanted:
            return


def _feedback_alone(blocks: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the blocks that feedback has added, with the strangers beside its pairs."""
    for table in blocks:
        codes, _ = columns(table)
        if (codes == FEEDBACK).any():
            yield table
