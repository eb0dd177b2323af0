"""Vacancy titles of a job board in three settings: nothing of them, their titles, their labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.studies.champion.asking import Asking
from benchmarks.studies.champion.certainty import certainty_rows, no_titles
from benchmarks.studies.champion.corrected import write_corrected
from benchmarks.studies.champion.costs import cost_rows
from benchmarks.studies.champion.titles import read_halves
from benchmarks.systems import CHAMPION, champion_settings, untrained
from benchmarks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.tuning import learning, seeded
from benchmarks.workspace import Workspace, data_folder
from models.answer.search import Search
from tasks.artefact.registered import Registered
from tasks.evaluation.ranking import METRICS
from tasks.evaluation.systems import read_index
from tasks.evidence.calibrating import levels
from tasks.evidence.gathering import EvidenceParams
from tasks.evidence.known import Known
from tasks.files.frames import read_frame
from tasks.files.schemas import OCCUPATIONS

NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}
Learned = dict[int, tuple[Search, pl.DataFrame]]
"""By seed, what knows the given titles' labels, and the titles asked."""
CHOICE = "choice"
"""The titles that things are chosen on, and that confidence is fitted on."""


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
    rows += learning({CHAMPION: plain})
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
    similarities = Registered.of(first.folder, asking.precision).similarities(index.titles)
    answering = Search(index, similarities, workspace.params.evaluate.rule)
    folder = options.kept / f"corrected-{name}"
    write_corrected(workspace, answering, asking.halves.given, folder)
    return trained(workspace, folder, options)


def with_labels(asking: Asking, taught: dict[int, TitleNetwork]) -> Learned:
    """Return by seed what knows the given titles' labels, and the titles asked."""
    return {
        seed: (asking.search(own.folder, asking.labelled, asking.board), asking.halves.asked)
        for seed, own in taught.items()
    }


def champion_rows(
    asking: Asking, plain: dict[int, TitleNetwork], learned: Learned
) -> Iterator[Row]:
    """Ask the networks of every seed in each setting, and without any loss of precision."""

    def asked(test: str, known: Known | None, weights: EvidenceParams | None = None) -> Seeds:
        return {
            seed: asking.values(test, asking.search(own.folder, known, weights))
            for seed, own in plain.items()
        }

    before = asked("zero_label", asking.inputs)
    bare = asked("unlabelled", asking.bare, asking.board)
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


def precision_rows(asking: Asking, plain: dict[int, TitleNetwork], packed: Seeds) -> Iterator[Row]:
    """Yield what networks in floats answer, and what packing loses."""
    single = {
        seed: asking.values(
            "zero_label", asking.search(own.folder, asking.inputs, precision="single")
        )
        for seed, own in plain.items()
    }
    yield from rows_of(f"{CHAMPION}/single", single, asking)
    params = asking.workspace.params
    lost = f"{CHAMPION}-{CHAMPION}/single"
    yield from gains(lost, packed, single, "gain_mrr", params, column="reciprocal_rank")


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
