"""All tests' queries of one part, and the strings that no later stage may learn from."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tasks.files.frames import read_frame
from tasks.files.schemas import PARTS, QUERIES
from tasks.files.sources import DATA, SOURCES

WRITERS = (*(source.stage for source in SOURCES), "split")
"""Stages that write queries, in the order of every table; their `queries.parquet` in `data/`."""


def read_queries(part: str, data: Path = DATA) -> pl.DataFrame:
    """Read the rows of `part` (`test`, `valid` or `gate`) of every stage's file: `QUERIES`."""
    frames = [read_frame(data / writer / "queries.parquet", QUERIES) for writer in WRITERS]
    return pl.concat(frames).filter(pl.col("part") == part)


def queried_strings(data: Path = DATA) -> set[str]:
    """Return the normalized titles of all queries of every part: what no stage may learn from."""
    return {title for part in PARTS for title in read_queries(part, data)["normalized"]}
