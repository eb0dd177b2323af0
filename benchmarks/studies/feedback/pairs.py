"""The pairs of a variant, from those of mix 3 and people's verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import polars as pl
import pyarrow as pa

from benchmarks.studies.feedback.variants import CONTROL, Variant
from benchmarks.workspace import Workspace
from models.repeatable.seeding import generator
from tasks.files.frames import read_frame
from tasks.files.schemas import STRINGS, VERDICTS
from tasks.files.sources import PAIR_SOURCES
from tasks.pairing.drawn_pairs import new_pairs
from tasks.pairing.feedback_pairs import feedback_pairs, without_outranked
from tasks.pairing.pair_blocks import columns, read_blocks
from tasks.pairing.strings_table import append, feedback_strings
from tasks.pairs import PairsParams, counting

FEEDBACK = PAIR_SOURCES.index("feedback")


class Material(NamedTuple):
    """What every variant is made of: schemas `STRINGS` and `VERDICTS`, and a pairs file."""

    strings: pl.DataFrame
    pairs: Path
    verdicts: pl.DataFrame

    def drawn(self, most: int | None, seed: int) -> Self:
        """Return the same with `most` verdicts at most; fewer are among those of more."""
        if most is None:
            return self
        order = generator(seed, "feedback", "verdicts").permutation(len(self.verdicts))
        return self._replace(verdicts=self.verdicts[sorted(order[:most].tolist())])


def read_material(workspace: Workspace) -> Material:
    """Read strings and pairs of mix 3, and the verdicts."""
    folder = workspace.pairs(CONTROL)
    verdicts = workspace.data / "feedback/verdicts.parquet"
    for path in (folder / "pairs.parquet", verdicts):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing: run `make reproduce`")
    strings = read_frame(folder / "strings.parquet", STRINGS)
    return Material(strings, folder / "pairs.parquet", read_frame(verdicts, VERDICTS))


def variant_pairs(
    variant: Variant, material: Material, params: PairsParams, seed: int
) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings table (schema `STRINGS`) and the blocks of pairs of one variant."""
    blocks, verdicts = read_blocks(material.pairs), material.verdicts
    if not variant.verdicts:
        return material.strings, blocks
    rng = generator(seed, "pairs", "4c" if variant.corrections else "4")
    learned = {"corrections": variant.corrections}
    if (variant.outranked or params.outranked) == "dropped":
        blocks = without_outranked(blocks, material.strings, verdicts, **learned)
    strings = append(material.strings, feedback_strings(verdicts, **learned))

    def added(similar: int) -> Iterator[pa.Table]:
        count = new_pairs(similar, params.shares["feedback"])
        return feedback_pairs(strings, verdicts, count, params, rng, **learned)

    made = counting(blocks, added)
    return strings, made if variant.rejections else without_rejections(made)


def without_rejections(blocks: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield `blocks` without the dissimilar pairs of feedback."""
    for table in blocks:
        codes, similar = columns(table)
        yield table.filter(pa.array((codes != FEEDBACK) | (similar == 1)))
