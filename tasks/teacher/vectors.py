"""The training titles, their whole words, and files of a teacher's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.repeatable.progress import Progress
from models.text.featurizer import Vocabulary
from models.text.units import UnitSettings
from tasks.files.frames import Schema, read_frame, write_frame
from tasks.files.schemas import COMPANION, TITLES
from tasks.files.sources import DATA, SOURCES, training_variants

if TYPE_CHECKING:
    from jaxtyping import Float16

    from tasks.teacher.sentence_encoder import Embed

MISSPELT = "typos"
"""The stage whose variants no teacher is asked about."""
BLOCK = 4096  # texts between two lines of progress
WORDS = UnitSettings("word", max_length=100)
NO_VECTORS = np.empty((0, 1), np.float16)


def training_titles(data: Path = DATA) -> list[str]:
    """Read the distinct cleaned titles that training may use, sorted."""
    aliases = read_frame(data / "split/titles.parquet", TITLES).filter(pl.col("split") == "train")
    beside = read_frame(data / "companion/titles.parquet", COMPANION)
    variants = [training_variants(source, data) for source in SOURCES if source.stage != MISSPELT]
    read = [aliases["title"], beside["title"], *(frame["variant"] for frame in variants)]
    return sorted(set().union(*read))


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
