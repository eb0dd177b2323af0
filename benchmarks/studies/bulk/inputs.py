"""Titles in any number, made of a workspace's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workspace import Workspace
from models.reproducibility.seeding import generator
from tasks.io.frames import read_frame
from tasks.io.schemas import INPUTS
from tasks.pipeline.augmentation.noise import corrupt_by_rate, letters_of
from tasks.release.model_package.phrases import PHRASES, places

WRONG = 0.02
"""Share of characters that are substituted, and as many deleted."""


def distinct_titles(workspace: Workspace, count: int) -> list[str]:
    """Make distinct titles: inputs with typos, seniority before, contract or place behind.

    The workspace has the inputs, and the seed of the draws.
    """
    rng = generator(workspace.params.seed, "bulk", "titles")
    raw = read_frame(workspace.data / "ingest/inputs.parquet", INPUTS)["raw_title"].unique()
    raw_titles = [title for title in raw.sort().to_list() if title.strip()]
    phrases = pl.read_csv(PHRASES).filter(~pl.col("phrase").str.contains("#"))
    before = phrases.filter(kind="seniority")["phrase"].to_list()
    behind = [*phrases.filter(kind="contract")["phrase"].to_list(), *places(())]
    made: dict[str, None] = {}
    while len(made) < count:
        drawn = [raw_titles[row] for row in rng.integers(len(raw_titles), size=count)]
        wrong = corrupt_by_rate(drawn, WRONG, WRONG, letters_of(raw_titles), rng)
        heads, tails = (rng.integers(len(words), size=count) for words in (before, behind))
        for title, head, tail in zip(wrong, heads.tolist(), tails.tolist(), strict=True):
            made[f"{before[head]} {title} - {behind[tail]}"] = None
    return [*made][:count]


def write_titles(titles: Sequence[str], rows: int, file: Path, seed: int) -> None:
    """Write rows with titles, each equally often, in any order, to Parquet."""
    rng = generator(seed, "bulk", "rows", str(rows))
    column = pa.array(titles)
    with pq.ParquetWriter(file, pa.schema([("raw_title", pa.string())])) as writer:
        for _ in range(rows // len(titles)):
            order = pa.array(rng.permutation(len(titles)))
            writer.write_table(pa.table({"raw_title": column.take(order)}), row_group_size=1 << 16)
