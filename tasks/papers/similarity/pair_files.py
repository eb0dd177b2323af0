"""What the stage `scored_pairs` writes and those after it read: files, schemas, score ranges."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.io.frames import Schema, read_frame
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS, score_range

FOLDER = Path("data/scored_pairs")
PAIRS, PARAPHRASES = FOLDER / "pairs.parquet", FOLDER / "paraphrases.parquet"
PARAPHRASE_PARTS: Schema = {"split": pl.String, "head": pl.String, "paraphrase": pl.String}
"""Parts: train and valid."""
PARAPHRASED = "paraphrases"
"""What `similarity.systems.NAME.trained_on` calls them; anything else is a scored data set."""
SAMPLE = {"sample_sentences": (0.0, 5.0), "sample_words": (0.0, 5.0)}
"""Lowest and highest score of the data sets of this repository."""


def read_pairs() -> pl.DataFrame:
    """Read schema `SCORED_PAIRS`; scores in the range of each data set."""
    return read_frame(PAIRS, SCORED_PAIRS)


def read_paraphrases() -> pl.DataFrame:
    """Read schema `PARAPHRASE_PARTS`."""
    return read_frame(PARAPHRASES, PARAPHRASE_PARTS)


def range_of(dataset: str) -> tuple[float, float]:
    """Return the lowest and highest score of a data set, be it a publisher's or of the sample.

    Raises:
        IngestError: neither knows it.
    """
    return SAMPLE.get(dataset) or score_range(dataset)


def scaled(pairs: pl.DataFrame) -> pl.DataFrame:
    """Bring `score` to [0, 1], data set by data set; 1 is the most similar."""
    names = pairs["dataset"].unique(maintain_order=True).to_list()
    ends = {name: range_of(name) for name in names}
    low, high = (
        pl.col("dataset").replace_strict({name: end[at] for name, end in ends.items()})
        for at in (0, 1)
    )
    return pairs.with_columns(score=(pl.col("score") - low) / (high - low))
