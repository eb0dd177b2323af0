"""Vacancy titles as a stream of weeks.

The even half of the job board is dealt to weeks by its normalized titles, a title with all of its
rows to one week: no later week holds a title of an earlier one, and labels take no part in it.
A person's label of a title is that of most of its rows, of equally many the first.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.workspace import Workspace
from models.reproducibility.seeding import generator

HALF = "even"
"""The half for choices; figures of networks are reported on the other one."""


def read_weeks(workspace: Workspace, board: Path, weeks: int, deal: int) -> list[pl.DataFrame]:
    """Return the inputs of so many weeks and of the one after, which nobody reviews.

    Columns `query_id, raw_title, occupation_id` (the label), `cleaned, normalized`, a row an input.
    `board`: the publishers' files; `deal`: another one divides the titles otherwise.
    """
    inputs = read_halves(board, workspace.aliases, HALF).queried
    readable = inputs.filter(pl.col("normalized") != "")
    return split_weeks(readable, weeks + 1, deal)


def split_weeks(inputs: pl.DataFrame, weeks: int, seed: int) -> list[pl.DataFrame]:
    """Deal inputs to weeks of equally many distinct titles, their rows in the order of the file."""
    titles = inputs["normalized"].unique(maintain_order=True)
    order = generator(seed, "loop", "weeks").permutation(len(titles))
    week = np.empty(len(titles), np.int64)
    for number, places in enumerate(np.array_split(order, weeks)):
        week[places] = number
    of_title = pl.DataFrame({"normalized": titles, "week": week})
    rows = inputs.join(of_title, on="normalized", how="left", maintain_order="left")
    return [rows.filter(week=number).drop("week") for number in range(weeks)]


def titles_of(answered: pl.DataFrame) -> pl.DataFrame:
    """Return a week's distinct titles as a person sees them, with the model's answers.

    That is the first row of each title, with `rows` (how many it has) and `label` (its occupation).
    """
    labels = answered.group_by("normalized", "occupation_id", maintain_order=True).len()
    most = labels.sort("len", descending=True, maintain_order=True)
    labelled = most.unique("normalized", keep="first", maintain_order=True)
    label = labelled.select("normalized", label="occupation_id")
    rows = answered.group_by("normalized").agg(rows=pl.len())
    titles = answered.unique("normalized", keep="first", maintain_order=True)
    for column in (rows, label):
        titles = titles.join(column, on="normalized", how="left", maintain_order="left")
    return titles
