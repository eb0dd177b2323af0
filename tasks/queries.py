"""All tests' queries of one part, and the strings that no later stage may train on or ask for."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from models.titles import normalize_title
from tasks.frames import read_frame
from tasks.schemas import PARTS, QUERIES

WRITERS = ("typos", "synonyms", "extra_words", "split")
"""Stages that write queries, in the order of every table; their `queries.parquet` in `data/`."""


def read_queries(part: str, data: Path = Path("data")) -> pl.DataFrame:
    """Schema `QUERIES`: the rows of `part` (`test`, `valid` or `gate`) of every stage's file."""
    frames = [read_frame(data / writer / "queries.parquet", QUERIES) for writer in WRITERS]
    return pl.concat(frames).filter(pl.col("part") == part)


def queried_strings(data: Path = Path("data")) -> set[str]:
    """The normalized titles of all queries of every part: what no stage may learn from."""
    return normalized(*(read_queries(part, data)["raw_title"] for part in PARTS))


def normalized(*columns: pl.Series) -> set[str]:
    """The normalized titles of all rows: what counts as the same string (`models/titles.py`)."""
    return {normalize_title(title) for column in columns for title in column}
