"""Vacancy titles of a job board in three settings: nothing of them, their titles, their labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.query_figures import UNSEEDED, Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.runner import learning, seeded
from benchmarks.studies.champion.asking import Asking
from benchmarks.studies.champion.corrected import write_judged
from benchmarks.studies.champion.costs import cost_rows
from benchmarks.studies.champion.titles import read_halves
from benchmarks.systems import CHAMPION, champion_settings, untrained
from benchmarks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.workspace import Workspace, data_folder
from models.ranking.search import Search
from tasks.evaluation.ranking import METRICS
from tasks.evaluation.systems import read_index
from tasks.pipeline.calibrate.known_inputs import Known
from tasks.pipeline.calibrate.params import CalibrateParams

NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Ask the titles of each name of `options.asked`."""
    workspace = Workspace.read(dataset)
    index = workspace.aliases
    plain = trained(workspace, workspace.pairs(workspace.mix), options)
    rows = [*learning({CHAMPION: plain})]
    for name in options.asked:
        halves = read_halves(data_folder(), index, name)
        asking = Asking(workspace, index, halves, options)
        taught = taught_networks(asking, plain[1], name)
        own = [*champion_rows(asking, plain, taught), *untrained_rows(asking)]
        own += ceiling_rows(asking)
        rows += [row._replace(test=f"{name}/{row.test}") for row in own]
    yield [*rows, *cost_rows(workspace, halves.asked, plain[1].folder, options)]


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
    similarities = asking.similarities(first.folder, index.titles)
    answering = Search(index, similarities, workspace.params.evaluate.rule)
    folder = options.kept / f"corrected-{name}"
    write_judged(workspace, answering, asking.halves.given, folder)
    return trained(workspace, folder, options)


def champion_rows(
    asking: Asking, plain: dict[int, TitleNetwork], taught: dict[int, TitleNetwork]
) -> Iterator[Row]:
    """Ask the networks of every seed in each setting."""

    def asked(test: str, known: Known | None, weights: CalibrateParams | None = None) -> Seeds:
        return {
            seed: asking.values(test, asking.search(own.folder, known, weights))
            for seed, own in plain.items()
        }

    before = asked("zero_label", asking.inputs)
    bare = asked("unlabelled", asking.bare, asking.board)
    params = asking.workspace.params
    yield from figures(f"{CHAMPION}/alone", asked("zero_label", None), NAMES, params)
    overrides = {
        seed: asking.values("feedback", asking.search(own.folder, asking.labelled, asking.board))
        for seed, own in taught.items()
    }
    for settled in (before, bare, overrides):
        yield from figures(CHAMPION, settled, NAMES, params)
    after, ahead = (
        {seed: asking.unjudged(own) for seed, own in settled.items()}
        for settled in (overrides, before)
    )
    gained = f"{CHAMPION}/feedback-{CHAMPION}/zero_label"
    for column, metric in NAMES.items():
        yield from gains(gained, after, ahead, f"gain_{metric}", params, column)


def untrained_rows(asking: Asking) -> Iterator[Row]:
    """Yield the systems that learn nothing."""
    params, names = asking.workspace.params, asking.options.untrained
    for system, similarities in untrained(asking.index.titles, params, names):
        search = Search(asking.index, similarities, params.evaluate.rule)
        values = {UNSEEDED: asking.values("zero_label", search)}
        yield from figures(system, values, NAMES, params)


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
