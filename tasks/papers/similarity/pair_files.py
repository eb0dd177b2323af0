"""The files that the stage `scored_pairs` writes, and scores of all data sets on one scale."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.io.frames import Schema
from tasks.papers.similarity.readers.scored_pairs import score_range

FOLDER = Path("data/scored_pairs")
PAIRS, PARAPHRASES = FOLDER / "pairs.parquet", FOLDER / "paraphrases.parquet"
PARAPHRASE_PARTS: Schema = {"split": pl.String, "head": pl.String, "paraphrase": pl.String}
"""Parts: train and valid."""
PARAPHRASED = "paraphrases"
"""Their name as `similarity.systems.NAME.trained_on`; anything else is a scored data set."""


def scaled(pairs: pl.DataFrame) -> pl.DataFrame:
    """Bring `score` to [0, 1], data set by data set; 1 is the most similar."""
    ranges = {name: score_range(name) for name in pairs["dataset"].unique()}
    low, high = (
        pl.col("dataset").replace_strict({name: ends[at] for name, ends in ranges.items()})
        for at in (0, 1)
    )
    return pairs.with_columns(score=(pl.col("score") - low) / (high - low))
