"""The titles that are taught, their whole words, and files of a teacher's vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.repeatable.progress import Progress
from models.text.featurizer import Vocabulary
from models.text.units import UnitSettings
from tasks.files.frames import Schema, write_frame

if TYPE_CHECKING:
    from jaxtyping import Float16

    Embed = Callable[[Sequence[str]], np.ndarray]

NOT_TAUGHT = ("valid", "typo", "noisy_companion")
"""Roles of strings that no teacher is asked about."""
BLOCK = 4096  # texts between two lines of progress
WORDS = UnitSettings("word", max_length=100)
NO_VECTORS = np.empty((0, 1), np.float16)


def taught_titles(strings: pl.DataFrame) -> list[str]:
    """Return the distinct titles of schema `STRINGS` but those of `NOT_TAUGHT`, sorted."""
    return sorted(set(strings.filter(~pl.col("role").is_in(NOT_TAUGHT))["title"]))


def whole_words(titles: Sequence[str]) -> list[str]:
    """Return the distinct words of titles, as a featurizer finds them, sorted."""
    return list(Vocabulary.fit(titles, WORDS).known)


def vectors(texts: Sequence[str], embed: Embed, what: str) -> Float16[np.ndarray, "text dim"]:
    """Embed one text or more block by block, with lines of progress that say `what`."""
    progress, blocks = Progress(f"teacher: {what}", len(texts)), []
    for start in range(0, len(texts), BLOCK):
        blocks.append(embed(texts[start : start + BLOCK]).astype(np.float16))
        progress(min(start + BLOCK, len(texts)))
    return np.concatenate(blocks)


def write_vectors(
    texts: Sequence[str], table: Float16[np.ndarray, "text dim"], column: str, folder: Path
) -> None:
    """Write `COLUMNs.parquet`: a text and its vector a row."""
    schema: Schema = {column: pl.String, "vector": pl.Array(pl.Float16, table.shape[1])}
    frame = pl.DataFrame({column: texts, "vector": table}, schema=dict(schema))
    write_frame(frame, folder / f"{column}s.parquet", schema)
