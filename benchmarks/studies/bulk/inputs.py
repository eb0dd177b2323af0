"""Titles in any number, made of a workspace's inputs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workspace import Workspace
from models.reproducibility.progress import Progress
from models.reproducibility.seeding import generator
from tasks.io.frames import read_frame
from tasks.io.schemas import INPUTS
from tasks.pipeline.augmentation.noise import corrupt_by_rate, letters_of
from tasks.release.model_package.phrases import PHRASES, places

WRONG = 0.02
"""Share of characters that are substituted, and as many deleted."""
AT_ONCE = 1 << 20


def distinct_titles(workspace: Workspace, count: int) -> pl.Series:
    """Make distinct titles: inputs with typos, seniority before, contract or place behind.

    The workspace has the inputs, and the seed of the draws.
    """
    rng = generator(workspace.params.seed, "bulk", "titles")
    raw = read_frame(workspace.data / "ingest/inputs.parquet", INPUTS)["raw_title"].unique()
    raw_titles = [title for title in raw.sort().to_list() if title.strip()]
    letters = letters_of(raw_titles)
    phrases = pl.read_csv(PHRASES).filter(~pl.col("phrase").str.contains("#"))
    before = phrases.filter(kind="seniority")["phrase"]
    behind = pl.concat([phrases.filter(kind="contract")["phrase"], pl.Series([*places(())])])
    made, progress = pl.Series([], dtype=pl.String), Progress("distinct titles", count)
    while len(made) < count:
        size = min(count, AT_ONCE)
        drawn = [raw_titles[row] for row in rng.integers(len(raw_titles), size=size)]
        wrong = pl.Series(corrupt_by_rate(drawn, WRONG, WRONG, letters, rng))
        heads, tails = (rng.integers(len(words), size=size) for words in (before, behind))
        parts = pl.DataFrame({"a": before[heads], "b": wrong, "c": behind[tails]})
        titles = parts.select(pl.format("{} {} - {}", "a", "b", "c")).to_series()
        made = pl.concat([made, titles]).unique(maintain_order=True)
        progress(min(len(made), count))
    return made[:count]


def write_titles(titles: pl.Series, rows: int, file: Path, seed: int) -> None:
    """Write rows with titles, each equally often, in any order, to Parquet."""
    rng = generator(seed, "bulk", "rows", str(rows))
    column = titles.to_arrow()
    with pq.ParquetWriter(file, pa.schema([("raw_title", column.type)])) as writer:
        for _ in range(rows // len(titles)):
            order = pa.array(rng.permutation(len(titles)))
            writer.write_table(pa.table({"raw_title": column.take(order)}), row_group_size=1 << 16)
