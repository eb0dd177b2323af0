"""All tests' queries of one split, and the strings that no later stage may learn from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tasks.io.frames import read_frame
from tasks.io.mixes import DATA, SOURCES
from tasks.io.schemas import QUERIES

BEFORE_FEEDBACK = (*(source.stage for source in SOURCES), "split")
"""Stages whose queries every later stage knows."""
FEEDBACK = "feedback"
"""The stage whose queries are judged titles of the split `gate`."""
WRITERS = (*BEFORE_FEEDBACK, FEEDBACK)
"""Stages that write queries, in the order of every table; their `queries.parquet` in `data/`."""


def read_queries(split: str, data: Path = DATA) -> pl.DataFrame:
    """Read the rows of `split` (`test`, `valid` or `gate`) of every stage's file: `QUERIES`."""
    with_feedback = split == "gate" and (data / FEEDBACK / "queries.parquet").is_file()
    frames = _read(WRITERS if with_feedback else BEFORE_FEEDBACK, data)
    return frames.filter(pl.col("split") == split)


def queried_strings(data: Path = DATA) -> set[str]:
    """Return the normalized titles of all queries, of every split, of the stages before feedback.

    No stage may learn from them; the stage `feedback` keeps its own apart.
    """
    return set(_read(BEFORE_FEEDBACK, data)["normalized"])


def _read(writers: Iterable[str], data: Path) -> pl.DataFrame:
    return pl.concat(read_frame(data / writer / "queries.parquet", QUERIES) for writer in writers)
