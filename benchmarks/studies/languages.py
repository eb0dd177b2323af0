"""Each set of languages with each seed, as served; then the systems that learn nothing, on MELO."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from benchmarks.answer_figures import error_figure, first_ranks, rank_metrics
from benchmarks.language_arm import ALL, Arm
from benchmarks.networks import learning, one_thread
from benchmarks.plots import intervals, legend, svg
from benchmarks.query_figures import UNSEEDED, figures
from benchmarks.results import Line, Lines, Row
from benchmarks.studies import melo
from benchmarks.study import study
from benchmarks.systems import COST, PACKAGE, RegisteredModel
from benchmarks.tables import over_seeds, where
from benchmarks.workspace import FILE, Workspace, data_folder, read_halves
from models.metrics.calibration import BINS
from models.reproducibility import child_seed
from models.serving.index import AliasIndex
from tasks.apps.benchmark import cosine
from tasks.io.frames import read_frame
from tasks.io.schemas import QUERIES
from tasks.pipeline.lexical import lexical_systems
from tasks.release.model_package.folder import KNOWN

METRICS = (
    *("success_at_1", "success_at_10", "mrr_at_10", "mrr_at_100"),
    *("first_digit", "two_digits", "abstained"),
)
ERRORS = {
    "calibration_error": ("confidence", "success_at_1"),
    "calibration_error_first_digit": ("first_digit_confidence", "first_digit"),
}
"""Metric to the columns of confidence and of what was correct."""
COLUMNS = ("test", "query_id", "raw_title", "occupation_ids")
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
    """Refuse missing files of publishers before hours of training."""
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
    for step in ("data", "train", "calibrate"):  # of one core, as far as it ran here
        own = [took / 60 for key, took in arm.seconds.items() if key.split()[0] == step]
        if own:
            yield Row(arm.name, COST, f"minutes_{step}", sum(own) / len(own), len(own))


def melo_values(arm: Arm, model: RegisteredModel, options: argparse.Namespace) -> pl.DataFrame:
    """Rank the sets whose languages the arm has, by the network of a served model."""
    embed, known = model.served.embed, set(arm.languages)
    names = [n for n in options.sets if not known or known.issuperset(melo.languages_of(n))]
    rule = arm.workspace.params.evaluate.rule
    return melo.measured(partial(cosine, embed), data_folder(), names, options.depth, rule)


def untrained_rows(name: str, workspace: Workspace, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the figures of a system that learns nothing, which is fitted on the elements."""
    params = workspace.params
    values = melo.measured(
        lambda titles: lexical_systems(titles, params.lexical)[name],
        *(data_folder(), options.sets, options.depth, None),
    )
    yield from figures(name, {UNSEEDED: values}, {one: one for one in melo.SHOWN}, params)


def queries(workspace: Workspace, index: AliasIndex, published: Path) -> pl.DataFrame:
    """Read `COLUMNS` of titles that nothing is trained or calibrated on.

    Tests: `board`, the odd half; `labelled/en` and `labelled/other`, by the language of the file.
    """
    board = read_halves(published, index, "odd").queried.with_columns(
        test=pl.lit("board"), occupation_ids=pl.concat_list("occupation_id")
    )
    inputs = workspace.params.ingest.located[1]
    title = inputs.columns["raw_title"]
    files = [pl.read_csv(workspace.folder / file, infer_schema=False) for file in inputs.files]
    languages = pl.concat([own.select(raw_title=title, own="language") for own in files])
    labelled = read_frame(workspace.data / "split/queries.parquet", QUERIES)
    english = pl.col("raw_title").replace_strict(
        languages["raw_title"], languages["own"] == "en", default=False
    )
    name = pl.when(english).then(pl.lit("labelled/en")).otherwise(pl.lit("labelled/other"))
    labelled = labelled.filter(test="annotations", split="test").with_columns(test=name)
    return pl.concat([board.select(COLUMNS), labelled.select(COLUMNS)])


def answered(model: RegisteredModel, titles: pl.DataFrame) -> pl.DataFrame:
    """Return `test, query_id`, `METRICS` as numbers, and the confidences of `ERRORS` or NaN."""
    predicted = model.predicted(titles["raw_title"].to_list())
    known = read_frame(model.folder / PACKAGE / "occupations.parquet", KNOWN)
    codes: Mapping[str, list[str]] = dict(known.select("occupation_id", "codes").iter_rows())
    gold = titles["occupation_ids"].to_list()
    ranks = first_ranks(gold, [[*own] for own in predicted["top_occupation_ids"]])
    own_codes = [[*own] for own in predicted["codes"]]
    digits = {
        name: [
            len(own) > level and any(own[level] in codes[one][level : level + 1] for one in names)
            for own, names in zip(own_codes, gold, strict=True)
        ]
        for level, name in enumerate(("first_digit", "two_digits"))
    }
    broad = [own[0] if len(own) else np.nan for own in predicted["code_confidences"]]
    values = {
        **rank_metrics(ranks),
        "abstained": predicted["abstained"].to_numpy(dtype=bool),
        **digits,
        "confidence": predicted["confidence"].to_numpy(dtype=float, na_value=np.nan),
        "first_digit_confidence": broad,
    }
    return titles.select("test", "query_id").with_columns(
        **{name: pl.Series(np.asarray(own, float)) for name, own in values.items()}
    )


def error_rows(system: str, by_seed: Mapping[int, pl.DataFrame], seed: int) -> Iterator[Row]:
    """Yield the calibration error of the answers to each test, of each network and their mean."""
    for test in next(iter(by_seed.values()))["test"].unique(maintain_order=True):
        for metric, (confidence, correct) in ERRORS.items():
            rows = []
            for own_seed, values in by_seed.items():
                own = values.filter(pl.col(confidence).is_not_nan(), test=test)
                if len(own) >= BINS:
                    numbers = own[confidence].to_numpy(), own[correct].to_numpy() == 1
                    draw = child_seed(seed, "benchmark", test)
                    row = error_figure(system, test, *numbers, draw)
                    rows.append(row._replace(metric=metric, seed=own_seed))
            yield from rows
            if rows:
                mean = sum(row.value for row in rows) / len(rows)
                yield Row(system, test, metric, mean, rows[0].n)


def plot(rows: Lines) -> str:
    """Draw a panel a metric: a position on the axis for each set, a mark for each system."""
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
                positions = [sets.index(name) + 0.1 * (number - 2) for name in known]
                intervals(axes, number, label, positions, [*known.values()], linestyle="none")
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
