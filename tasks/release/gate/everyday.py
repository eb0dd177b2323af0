"""The gate's test `everyday`: clear titles with answers by hand, asked of whole models.

The other tests rank with the titles of the split `train` alone. Here champion and challenger answer
as a consumer loads them, with all titles, exact matches and respelling; an abstention is a miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from models.normalizer.normalizer import Normalizer
from tasks.evaluation.everyday import HALVES, read_everyday
from tasks.io.schemas import QUERIES
from tasks.io.title_readings import with_readings
from tasks.release.gate.first_ranks import Frames, as_frames

TEST = "everyday"


def everyday_queries(file: Path, occupations: Sequence[str]) -> pl.DataFrame:
    """Read the clear titles of the half `work`: schema `QUERIES`.

    Raises:
        ValueError: the file is not as `read_everyday` needs it, or its answers are of another
            taxonomy than these `occupations`.
    """
    clear = read_everyday(file, HALVES[0]).filter(kind="clear")
    known = set(clear["occupation_ids"].explode()) & set(occupations)
    if not known:
        raise ValueError(f"gate.everyday = {file}: it names no occupation of the taxonomy")
    return with_readings(
        clear.select(
            pl.format("{}-{}", pl.lit(TEST), pl.int_range(pl.len())).alias("query_id"),
            "raw_title",
            "occupation_ids",
            test=pl.lit(TEST),
            split=pl.lit("gate"),
            occupation_size=pl.lit(0, pl.UInt32),
            source=pl.lit("hand"),
        )
    ).select(list(QUERIES))


def first_answers(system: str, normalizer: Normalizer, queries: pl.DataFrame) -> Frames:
    """Ask a whole model: `SCORES` and `RUN`, of each the columns that the gate reads.

    The answer of an abstention is null.
    """
    answers = normalizer.predict(queries["raw_title"].to_list(), top_k=1).table
    answer = pl.Series(answers["occupation_id"].to_pylist(), dtype=pl.String)
    right = pl.col("occupation_ids").list.contains(answer).fill_null(value=False)
    return as_frames(system, queries, answer, right.cast(pl.Float64))
