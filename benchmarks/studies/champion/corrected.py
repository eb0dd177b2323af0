"""Pairs of a workspace with corrections of known titles, as the stage `feedback` makes them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks.corrected_pairs import write_corrected
from benchmarks.workspace import Workspace
from models.ranking.search import Search
from models.reproducibility.seeding import generator
from tasks.io.frames import read_frame
from tasks.io.schemas import FEEDBACK_ROWS, SPLIT_ALIASES
from tasks.pipeline.feedback.verdicts import resolve


def write_feedback_pairs(
    workspace: Workspace, search: Search, known: pl.DataFrame, folder: Path
) -> None:
    """Write strings and pairs of the workspace's mix and of the verdicts on a network's answers.

    Args:
        workspace: whose pairs are added to.
        search: the network that has answered.
        known: titles with labels, which judge the network's first answers.
        folder: where they are written.
    """
    aliases = read_frame(workspace.data / "split/aliases.parquet", SPLIT_ALIASES)
    verdicts = resolve(_feedback_rows(search, known), aliases, set()).verdicts
    params, rng = workspace.params, generator(workspace.params.seed, "champion", "pairs")
    write_corrected(workspace.pairs(workspace.mix), verdicts, params.pairs, rng, folder)


def _feedback_rows(search: Search, known: pl.DataFrame) -> pl.DataFrame:
    """Schema `FEEDBACK_ROWS`: each label judges the first answer to its title, as one reviewer."""
    index, rows = search.index, []
    for place, hits in search.blocks(known["cleaned"].to_list(), 1):
        block = known[place].select("raw_title", "occupation_id").rows()
        for (raw_title, label), (code,), (title,) in zip(
            block, hits.occupations, hits.titles, strict=True
        ):
            answer = index.occupations[code]
            right = answer == label
            verdict = ("correct", None) if right else ("incorrect", label)
            rows.append((raw_title, answer, index.titles[title], "champion", *verdict))
    overrides = pl.DataFrame(rows, schema=list(FEEDBACK_ROWS)[: len(rows[0])], orient="row")
    voices = {
        "reviewer_id": pl.int_range(pl.len()).cast(pl.String),
        "judged_at": pl.lit(None, pl.String),
        "from_labels": pl.lit(value=False),
    }
    return overrides.with_columns(pl.col("corrected_occupation_id").cast(pl.String), **voices)
