"""The files of the stage `scored_pairs`, and the scores of all data sets on one scale.

Scores stay in the publisher's range in the files; `scaled` brings them to [0, 1].
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from tasks.io.frames import Schema
from tasks.tables.source_files import IngestError

FOLDER = Path("data/scored_pairs")
PAIRS, PARAPHRASES = FOLDER / "pairs.parquet", FOLDER / "paraphrases.parquet"
SCORED_PAIRS: Schema = {
    **dict.fromkeys(("dataset", "split", "left", "right"), pl.String),
    "score": pl.Float64,
}
SPLITS = ("train", "valid", "test")
PARAPHRASE_PARTS: Schema = dict.fromkeys(("split", "head", "paraphrase"), pl.String)  # train, valid
PARAPHRASED = "paraphrases"  # as `similarity.systems.NAME.trained_on`, beside scored data sets
# lowest and highest score per publisher, and of this repository's data sets; higher is closer
RANGES = {"sick": (1.0, 5.0), "msrp": (0.0, 1.0), "sts": (0.0, 5.0), "simlex": (0.0, 10.0)}
SAMPLE = {"sample_sentences": (0.0, 5.0), "sample_words": (0.0, 5.0)}


def scaled(pairs: pl.DataFrame) -> pl.DataFrame:
    """Bring `score` to [0, 1], data set by data set; 1 is the most similar."""
    names, dataset = pairs["dataset"].unique(), pl.col("dataset")
    low, high = (dataset.replace_strict({n: score_range(n)[at] for n in names}) for at in (0, 1))
    return pairs.with_columns(score=(pl.col("score") - low) / (high - low))


def score_range(dataset: str) -> tuple[float, float]:
    """Return the lowest and highest score of a data set; IngestError if it is unknown."""
    name = "sts" if re.fullmatch(r"sts\d{4}/.+", dataset) else dataset
    if name not in RANGES | SAMPLE:
        raise IngestError(f"no range of scores is known for {dataset!r}, only for {[*RANGES]}")
    return (RANGES | SAMPLE)[name]
