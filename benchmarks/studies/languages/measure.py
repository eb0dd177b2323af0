"""Each set of languages with each seed, as served; then the systems that learn nothing, on MELO.

The plot has MAP and MRR on MELO's sets, published figures beside.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from benchmarks.job_board import FILE
from benchmarks.networks.language_arm import ALL, Arm
from benchmarks.networks.runner import learning, one_thread
from benchmarks.pages.plots import intervals, legend, svg
from benchmarks.pages.tables import over_seeds, where
from benchmarks.product.systems import RegisteredModel
from benchmarks.query_figures import UNSEEDED, figures
from benchmarks.results import Line, Lines, Row
from benchmarks.studies.languages import melo
from benchmarks.studies.languages.answers import METRICS, answered, error_rows, queries
from benchmarks.study import study
from benchmarks.workspace import Workspace, data_folder
from models.search.search import Similarities
from tasks.apps.benchmark.model import cosine
from tasks.pipeline.lexical.stage import lexical_systems

COST = "cost"
PANELS = {"mean_average_precision": "MAP", "mrr": "MRR"}
PLOTTED = {
    ("all", "elements"): "Rolecall",
    ("all", "occupations"): "... with occupations known",
    ("tfidf", "elements"): "TF-IDF",
    ("ngram", "elements"): "n-gram matcher",
}


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure each name of `options.languages` with the networks of `options.seeds`."""
    workspace = Workspace.read(dataset)
    check_files(options.sets)
    for name in options.languages:
        with one_thread(), threadpool_limits(1):
            yield [*arm_rows(Arm(workspace, name, options.kept), options)]
    if ALL in options.languages:
        for name in options.untrained:
            yield [*untrained_rows(name, workspace, options)]


def check_files(sets: Sequence[str]) -> None:
    """Refuse missing files of publishers before hours of training.

    Raises:
        FileNotFoundError: the job board is missing.
        ValueError: a set of MELO is missing, or does not fit.
    """
    if not (data_folder() / FILE).is_file():
        raise FileNotFoundError(f"{FILE} is not there: set ROLECALL_DATA to the folder that has it")
    for name in sets:
        melo.read_set(data_folder(), name)


def arm_rows(arm: Arm, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the figures of a set of languages; speed and size are those of its first network."""
    yield from learning({arm.name: arm.train(options.seeds, options.processes)})
    params, ranks, answers = arm.workspace.params, {}, {}
    for seed in options.seeds:
        with arm.served(seed) as model:
            print(f"{arm.name}, seed {seed}: MELO", flush=True)
            ranks[seed] = melo_values(arm, model, options)
            workspace = arm.workspace if arm.is_registered(seed) else arm.data
            titles = queries(workspace, model.index(), data_folder())
            answers[seed] = answered(model, titles)
            if seed == options.seeds[0]:
                for row in model.costs(titles.filter(test="board")["raw_title"].to_list()):
                    yield row._replace(system=arm.name)
    if len(ranks[options.seeds[0]]):
        yield from figures(arm.name, ranks, {name: name for name in melo.SHOWN}, params)
    yield from figures(arm.name, answers, {name: name for name in METRICS}, params)
    yield from error_rows(arm.name, answers, params.seed)
    yield from minutes(arm)


def melo_values(arm: Arm, model: RegisteredModel, options: argparse.Namespace) -> pl.DataFrame:
    """Rank the sets whose languages the arm has, by the network of a served model."""
    embed, known = model.model.unwrap_python_model().embed, set(arm.languages)
    names = [
        name for name in options.sets if not known or known.issuperset(melo.languages_of(name))
    ]
    rule = arm.workspace.params.evaluate.rule
    return melo.measured(partial(cosine, embed), data_folder(), names, options.depth, rule)


def untrained_rows(name: str, workspace: Workspace, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the figures of a system that learns nothing, which is fitted on the elements."""
    params = workspace.params

    def compared(titles: Sequence[str]) -> Similarities:
        return lexical_systems(titles, params.lexical)[name]

    values = melo.measured(compared, data_folder(), options.sets, options.depth, None)
    yield from figures(name, {UNSEEDED: values}, {one: one for one in melo.SHOWN}, params)


def minutes(arm: Arm) -> Iterator[Row]:
    """Yield the mean minutes of one core of each step, as far as it ran here."""
    for step in ("data", "train", "calibrate"):
        own = [took / 60 for key, took in arm.seconds.items() if key.split()[0] == step]
        if own:
            yield Row(arm.name, COST, f"minutes_{step}", sum(own) / len(own), len(own))


def plot(rows: Lines) -> str:
    """Draw a panel a metric: a place on the axis for each set, a mark for each system."""
    config = study("languages").config
    sets, published = config["options"]["sets"], config["paper"]
    means = over_seeds(rows)

    def draw(whole: Figure) -> None:
        grid = whole.subplots(1, len(PANELS), sharey=True)
        for axes, (metric, title) in zip(grid, PANELS.items(), strict=True):
            marks = _marks(where(means, metric=metric), sets)
            best = {name: str(published[metric]["all"][name]) for name in sets}
            ends = ("value", "low", "high")
            marks["best published"] = {name: dict.fromkeys(ends, own) for name, own in best.items()}
            for number, (label, known) in enumerate(marks.items()):
                places = [sets.index(name) + 0.1 * (number - 2) for name in known]
                intervals(axes, number, label, places, [*known.values()], linestyle="none")
            axes.set_xticks(range(len(sets)), map(" → ".join, map(melo.languages_of, sets)))
            axes.set_title(title)
        legend(whole, grid[0], 5)

    return svg("languages", draw)


def _marks(rows: Lines, sets: Sequence[str]) -> dict[str, dict[str, Line]]:
    """Return the rows of each system by set, of those that were measured."""
    marks = {}
    for (system, way), label in PLOTTED.items():
        own = {name: where(rows, system=system, test=f"melo/{name}/{way}") for name in sets}
        if known := {name: found[0] for name, found in own.items() if found}:
            marks[label] = known
    return marks
