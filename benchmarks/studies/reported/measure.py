"""O*NET's occupations ranked for the titles that people reported, which no alias has.

The workspace's taxonomy was read without them (`left_out` of its reader), and they are its labelled
inputs, all of them tests, so that no stage learns from a string that normalizes to one, nor from a
label. A reported title that is an occupation's label stays one, and asks nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import polars as pl

from benchmarks.query_figures import standings
from benchmarks.results import Row
from benchmarks.systems import CHAMPION, answers
from benchmarks.workspace import Exam, Workspace
from tasks.evaluation.ranking import METRICS
from tasks.files.frames import read_frame
from tasks.files.schemas import QUERIES, SPLIT_ALIASES, SPLIT_INPUTS

TEST = "reported_titles"
NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}
KNOWN = "known"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train on what is left of the taxonomy, and ask each distinct reported title."""
    workspace = Workspace.read(dataset)
    params = workspace.params
    inputs = read_frame(workspace.data / "split/inputs.parquet", SPLIT_INPUTS)
    aliases = read_frame(workspace.data / "split/aliases.parquet", SPLIT_ALIASES)
    exam = Exam(params, workspace.aliases, queries(inputs))
    answered = answers(
        exam.index.titles,
        lambda system: exam.scores(system).drop("system"),
        workspace.pairs(workspace.mix),
        workspace.teacher,
        params,
        options,
    )
    rows = [Row("data", TEST, name, value, 1) for name, value in counts(inputs, aliases).items()]
    yield [*rows, *answered.learned, *standings(CHAMPION, answered.values, NAMES, params)]


def queries(inputs: pl.DataFrame) -> pl.DataFrame:
    """Return schema `QUERIES`: each distinct normalized title, all that report it being gold.

    Args:
        inputs: schema `SPLIT_INPUTS`; those that the taxonomy knows ask nothing.

    Raises:
        ValueError: something of them was not kept for tests, so that a stage may have learned it.
    """
    asked = inputs.filter(pl.col("split") != KNOWN)
    if other := sorted(set(asked["split"]) - {"annotations"}):
        raise ValueError(f"inputs are split into {', '.join(other)}: set annotations_share: 1.0")
    titles = asked.group_by("normalized", maintain_order=True).agg(
        pl.col("raw_title", "cleaned").first(),
        pl.col("occupation_id").unique().sort().alias("occupation_ids"),
    )
    return titles.select(
        query_id=pl.format("{}-{}", pl.lit(TEST), pl.int_range(pl.len())),
        test=pl.lit(TEST),
        part=pl.lit("test"),
        raw_title="raw_title",
        cleaned="cleaned",
        normalized="normalized",
        occupation_ids="occupation_ids",
        occupation_size=pl.lit(1, pl.UInt32),
        source=pl.lit("input"),
    ).select(list(QUERIES))


def counts(inputs: pl.DataFrame, aliases: pl.DataFrame) -> dict[str, int]:
    """Count the occupations ranked, those that keep their label alone, and labels reported."""
    sizes = aliases.group_by("occupation_id").len()
    return {
        "occupations": len(sizes),
        "label_alone": len(sizes.filter(pl.col("len") == 1)),
        "aliases": len(aliases),
        "reported_labels": inputs.filter(split=KNOWN)["normalized"].n_unique(),
    }
