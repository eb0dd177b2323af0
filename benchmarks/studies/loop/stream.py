"""Vacancy titles as a stream of weeks, and the data that no review changes.

The even half of the job board is dealt to weeks by its normalized titles, a title with all of its
rows to one week: no later week holds a title of an earlier one, and labels take no part in it.
A person's label of a title is that of most of its rows, of equally many the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.workspace import Workspace
from models.reproducibility.seeding import generator
from models.search.index import AliasIndex
from tasks.evaluation.systems import read_index
from tasks.io.frames import read_frame
from tasks.io.mixes import LAST
from tasks.io.queries import FEEDBACK, queried_strings
from tasks.io.schemas import SPLIT_ALIASES, STRINGS
from tasks.io.title_readings import normalized
from tasks.release.gate.run_gate import gate_queries

HALF = "even"
"""The half for choices; figures of networks are reported on the other one."""
BEFORE = LAST
"""The mix without people's feedback."""


@dataclass(frozen=True)
class Stream:
    """A workspace and its weeks.

    Attributes:
        workspace: of the network that serves at first.
        weeks: columns `query_id, raw_title, occupation_id` (the label), `cleaned, normalized`, a
            row an input; the last week is queried and never reviewed.
    """

    workspace: Workspace
    weeks: list[pl.DataFrame]

    @classmethod
    def read(cls, dataset: str, board: Path, weeks: int) -> Stream:
        """Read the inputs of so many weeks and of the one after; `board`: the publishers' files."""
        workspace = Workspace.read(dataset)
        inputs = read_halves(board, workspace.aliases, HALF).queried
        readable = inputs.filter(pl.col("normalized") != "")
        return cls(workspace, split_weeks(readable, weeks + 1, workspace.params.seed))

    @cached_property
    def aliases(self) -> pl.DataFrame:
        """All aliases: schema `SPLIT_ALIASES`."""
        return read_frame(self.workspace.data / "split/aliases.parquet", SPLIT_ALIASES)

    @cached_property
    def index(self) -> AliasIndex:
        """The titles that networks train on, which the gate searches."""
        return read_index(self.workspace.data)

    @cached_property
    def trained(self) -> set[str]:
        """Normalized titles that the first network trains on: none is held out for the gate."""
        strings = read_frame(self.workspace.pairs(BEFORE) / "strings.parquet", STRINGS)
        return set(normalized(strings["title"]))

    @cached_property
    def queried(self) -> set[str]:
        """Normalized strings of the profile's own queries, which nothing trains on."""
        return queried_strings(self.workspace.data)

    @cached_property
    def gate(self) -> pl.DataFrame:
        """The profile's own gate queries, schema `QUERIES`, without held-out reviewed titles."""
        return gate_queries(self.workspace.data).filter(pl.col("source") != FEEDBACK)


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
