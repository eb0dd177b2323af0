"""Pairs of a workspace with the corrections of given titles, as people's feedback brings them."""

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


def write_judged(workspace: Workspace, search: Search, given: pl.DataFrame, folder: Path) -> None:
    """Write strings and pairs of the workspace's mix and of the verdicts on a network's answers.

    Args:
        workspace: whose pairs are added to.
        search: the network that has answered.
        given: titles with labels, which judge its first answers.
        folder: where they are written.
    """
    aliases = read_frame(workspace.data / "split/aliases.parquet", SPLIT_ALIASES)
    verdicts = resolve(_opinions(search, given), aliases, set()).verdicts
    params, rng = workspace.params, generator(workspace.params.seed, "champion", "pairs")
    write_corrected(workspace.pairs(workspace.mix), verdicts, params.pairs, rng, folder)


def _opinions(search: Search, given: pl.DataFrame) -> pl.DataFrame:
    """Schema `FEEDBACK_ROWS`: each label judges the first answer to its title; each is one voice."""
    index, rows = search.index, []
    for place, hits in search.blocks(given["cleaned"].to_list(), 1):
        block = given[place].select("raw_title", "occupation_id").rows()
        for (raw_title, label), (code,), (title,) in zip(
            block, hits.occupations, hits.titles, strict=True
        ):
            answer = index.occupations[code]
            right = answer == label
            verdict = ("right", None) if right else ("wrong", label)
            rows.append((raw_title, answer, index.titles[title], "champion", *verdict))
    overrides = pl.DataFrame(rows, schema=list(FEEDBACK_ROWS)[: len(rows[0])], orient="row")
    voices = {
        "reviewer_id": pl.int_range(pl.len()).cast(pl.String),
        "judged_at": pl.lit(None, pl.String),
        "own": pl.lit(value=False),
    }
    return overrides.with_columns(pl.col("corrected_occupation_id").cast(pl.String), **voices)
