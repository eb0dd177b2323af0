"""Vacancy titles of a job board in three settings: nothing of them, their titles, their labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.studies.champion.certainty import certainty_rows, no_titles
from benchmarks.studies.champion.corrected import write_corrected
from benchmarks.studies.champion.costs import cost_rows
from benchmarks.studies.champion.titles import Halves, read_halves
from benchmarks.systems import CHAMPION, champion_settings, untrained
from benchmarks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.tuning import seeded
from benchmarks.workspace import Workspace, data_folder
from models.answer.evidence import Evidence
from models.answer.index import AliasIndex
from models.answer.search import Search
from models.measures.metrics import rank_gold
from models.repeatable.progress import Progress
from tasks.artefact.registered import BYTE, SINGLE, Registered
from tasks.evaluation.ranking import METRICS
from tasks.evaluation.systems import read_index
from tasks.evidence.calibrating import levels
from tasks.evidence.gathering import gather
from tasks.evidence.known import Known, known_inputs
from tasks.files.frames import read_frame
from tasks.files.queries import queried_strings
from tasks.files.schemas import JUDGED, OCCUPATIONS, SPLIT_INPUTS

NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}
Learned = dict[int, tuple[Search, pl.DataFrame]]
"""By seed, what knows the given titles' labels, and the titles asked."""
CHOICE = "choice"
"""The titles that things are chosen on, and that confidence is fitted on."""
NO_LABELS = pl.DataFrame(schema={"title": pl.String, "occupation_id": pl.String, "count": pl.Int64})


@dataclass(frozen=True)
class Asking:
    """Titles given and asked, and the workspace whose networks are asked."""

    workspace: Workspace
    index: AliasIndex
    halves: Halves
    options: argparse.Namespace

    def scores(self, search: Search) -> np.ndarray:
        """Score all occupations for each title asked [title, occupation]."""
        progress = Progress("titles scored:", len(self.halves.asked))
        blocks = []
        for place, hits in search.blocks(self.halves.asked["cleaned"].to_list(), 1):
            blocks.append(hits.scores.astype(np.float32))
            progress(place.stop)
        return np.concatenate(blocks)

    def values(self, test: str, search: Search) -> pl.DataFrame:
        """Return `test, query_id` and a column a metric for the titles asked; ties in mean."""
        asked = self.halves.asked
        gold = np.searchsorted(np.array(self.index.occupations), asked["occupation_id"].to_numpy())
        rank = rank_gold(self.scores(search), gold[:, None])
        columns = {name: metric(rank) for name, metric in METRICS.items()}
        return asked.select(pl.lit(test).alias("test"), "query_id").with_columns(**columns)

    def search(self, model: Path, known: Known | None = None, precision: str = BYTE) -> Search:
        """Search the index of all aliases with a network, and with what is known of inputs."""
        rule = self.workspace.params.evaluate.rule
        system = Registered.of(model, precision)
        plain = Search(self.index, system.similarities(self.index.titles), rule)
        if known is None:
            return plain
        made = gather(plain, known, self.workspace.params.evidence, rule.temperature, CHAMPION)
        bias = dict(made.prior.select("occupation_id", "bias").iter_rows())
        exemplars = made.exemplars.to_dict(as_series=False)
        evidence = Evidence.of(self.index, bias, exemplars, rule.temperature)
        titles = [*self.index.titles, *evidence.titles]
        return Search(self.index, system.similarities(titles), rule, evidence)

    def unjudged(self, values: pl.DataFrame) -> pl.DataFrame:
        """Return the values of those titles whose occupation no given label names."""
        named = set(self.halves.given["occupation_id"])
        asked = self.halves.asked.filter(~pl.col("occupation_id").is_in(named))
        rows = values.filter(pl.col("query_id").is_in(asked["query_id"].implode()))
        return rows.with_columns(test=pl.lit("unjudged"))

    @cached_property
    def inputs(self) -> Known:
        """The workspace's own inputs, whose labels nobody knows, as what is registered has them."""
        data = self.workspace.data
        inputs = read_frame(data / "split/inputs.parquet", SPLIT_INPUTS)
        nobody = pl.DataFrame(schema=dict(JUDGED))
        return known_inputs(self.workspace.mix, inputs, nobody, queried_strings(data))

    @property
    def bare(self) -> Known:
        """The given titles without their labels."""
        return Known(self.halves.given["cleaned"].unique(maintain_order=True).to_list(), NO_LABELS)

    @property
    def labelled(self) -> Known:
        """The given titles with their labels, as often as each was given."""
        titles = self.halves.given.select(pl.col("cleaned").alias("title"), "occupation_id")
        counted = titles.group_by("title", "occupation_id", maintain_order=True).len("count")
        return Known([], counted.cast({"count": pl.Int64}))


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Ask the titles of each name of `options.asked`."""
    workspace = Workspace.read(dataset)
    index = workspace.aliases
    asking = {
        name: Asking(workspace, index, read_halves(data_folder(), index, name), options)
        for name in dict.fromkeys((CHOICE, *options.asked))
    }
    plain = trained(workspace, workspace.pairs(workspace.mix), options)
    learned = {
        name: with_labels(asked, taught_networks(asked, plain[1], name))
        for name, asked in asking.items()
    }
    occupations = read_frame(workspace.data / "ingest/occupations.parquet", OCCUPATIONS)
    hierarchy = levels(index, occupations)
    strangers = no_titles(data_folder(), index, options.strangers)
    rows: list[Row] = []
    for name in options.asked:
        own = [
            *champion_rows(asking[name], plain, learned[name]),
            *untrained_rows(asking[name]),
            *ceiling_rows(asking[name]),
        ]
        if name != CHOICE:  # which confidence is fitted on
            own += certainty_rows(
                CHAMPION,
                learned[CHOICE],
                learned[name],
                hierarchy,
                workspace.params.evidence.lost_share,
                strangers,
            )
        rows += [row._replace(test=f"{name}/{row.test}") for row in own]
    first = next(iter(plain.values())).folder
    yield [*rows, *cost_rows(workspace, asking[CHOICE].halves.asked, first, options)]


def trained(
    workspace: Workspace, pairs: Path, options: argparse.Namespace
) -> dict[int, TitleNetwork]:
    """Train the workspace's network on a folder of pairs, once a seed."""
    networks = TitleNetworks(options.kept, options.processes, pairs, teacher=workspace.teacher)
    settings = champion_settings(workspace.params, options.steps, options.batch)
    return seeded({CHAMPION: settings}, options.seeds, networks)[CHAMPION]


def taught_networks(asking: Asking, first: TitleNetwork, name: str) -> dict[int, TitleNetwork]:
    """Train with the corrections that the given labels make of the first network's answers."""
    workspace, options = asking.workspace, asking.options
    index = read_index(workspace.data)  # people see answers of what was trained on
    similarities = Registered.of(first.folder).similarities(index.titles)
    answering = Search(index, similarities, workspace.params.evaluate.rule)
    folder = options.kept / f"corrected-{name}"
    write_corrected(workspace, answering, asking.halves.given, folder)
    return trained(workspace, folder, options)


def with_labels(asking: Asking, taught: dict[int, TitleNetwork]) -> Learned:
    """Return by seed what knows the given titles' labels, and the titles asked."""
    return {
        seed: (asking.search(own.folder, asking.labelled), asking.halves.asked)
        for seed, own in taught.items()
    }


def champion_rows(
    asking: Asking, plain: dict[int, TitleNetwork], learned: Learned
) -> Iterator[Row]:
    """Ask the networks of every seed in each setting, and without any loss of precision."""

    def asked(test: str, known: Known | None) -> Seeds:
        return {
            seed: asking.values(test, asking.search(own.folder, known))
            for seed, own in plain.items()
        }

    before, bare = asked("zero_label", asking.inputs), asked("unlabelled", asking.bare)
    yield from rows_of(f"{CHAMPION}/alone", asked("zero_label", None), asking)
    told = {seed: asking.values("feedback", search) for seed, (search, _) in learned.items()}
    for settled in (before, bare, told):
        yield from rows_of(CHAMPION, settled, asking)
    after, ahead = (
        {seed: asking.unjudged(own) for seed, own in settled.items()} for settled in (told, before)
    )
    params, gained = asking.workspace.params, f"{CHAMPION}/feedback-{CHAMPION}/zero_label"
    for column, metric in NAMES.items():
        yield from gains(gained, after, ahead, f"gain_{metric}", params, column)
    yield from precision_rows(asking, plain, before)


def precision_rows(
    asking: Asking, plain: dict[int, TitleNetwork], in_bytes: Seeds
) -> Iterator[Row]:
    """Yield what networks in floats answer, and what bytes lose."""
    single = {
        seed: asking.values("zero_label", asking.search(own.folder, asking.inputs, SINGLE))
        for seed, own in plain.items()
    }
    yield from rows_of(f"{CHAMPION}/{SINGLE}", single, asking)
    params = asking.workspace.params
    lost = f"{CHAMPION}-{CHAMPION}/{SINGLE}"
    yield from gains(lost, in_bytes, single, "gain_mrr", params, column="reciprocal_rank")


def untrained_rows(asking: Asking) -> Iterator[Row]:
    """Yield the systems that learn nothing."""
    params, names = asking.workspace.params, asking.options.untrained
    for system, similarities in untrained(asking.index.titles, params, names):
        search = Search(asking.index, similarities, params.evaluate.rule)
        yield from rows_of(system, {1: asking.values("zero_label", search)}, asking)


def ceiling_rows(asking: Asking) -> Iterator[Row]:
    """Yield how often the label of a title agrees with another label of the same title."""
    labels = asking.halves.asked.group_by("normalized", "occupation_id").len("own")
    several = labels.with_columns(all=pl.col("own").sum().over("normalized")).filter(
        pl.col("all") > 1
    )
    agreeing = several["own"] * (several["own"] - 1) / (several["all"] - 1)
    count = int(several["own"].sum())
    if count:
        yield Row("labels", "feedback", "success_at_1", float(agreeing.sum()) / count, count)


def rows_of(system: str, by_seed: Seeds, asking: Asking) -> Iterator[Row]:
    """Yield the figures of all seeds, and of each."""
    yield from figures(system, by_seed, NAMES, asking.workspace.params)
