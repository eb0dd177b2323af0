"""Ten weeks of vacancy titles, answered, corrected and learned from: queue, random, nothing.

Each seed of training goes through each deal of the titles to weeks. An arm that has ended is kept
as the frame of its values, one that was interrupted as the folder of its product.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from benchmarks.networks import in_processes, one_thread
from benchmarks.plots import intervals, legend, svg
from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Line, Lines, Row
from benchmarks.studies.loop_arm import (
    ALL,
    EMPTY,
    METRICS,
    NOTHING,
    QUEUE,
    WEEK,
    Arm,
    read_weeks,
    with_sums,
)
from benchmarks.studies.loop_product import Product
from benchmarks.tables import over_seeds, where
from benchmarks.workspace import Workspace, data_folder
from tasks.check_params import AllParams
from tasks.io.frames import read_frame, write_frame
from tasks.pipeline.feedback.reader import RANDOM

ARMS = (QUEUE, RANDOM, NOTHING)
COMPARED = ((RANDOM, NOTHING), (QUEUE, NOTHING), (QUEUE, RANDOM))  # one less the other
LABELS = {QUEUE: "the queue reviewed", RANDOM: "random inputs reviewed"}
LABELS[NOTHING] = "nothing reviewed"
LATER_ANSWERS = f"{ALL}/later"  # the test of what retraining does to later answers
APART = 0.12  # distance between the marks of a week


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Run every arm with every seed and deal; yield the figures so far, seeds count these runs."""
    seeds, deals = range(1, options.seeds + 1), range(1, options.deals + 1)
    for seed in seeds:
        first_product(dataset, seed, options).train_first()
    ran: dict[str, dict[int, pl.DataFrame]] = {arm: {} for arm in ARMS}
    for deal, seed in ((deal, seed) for deal in deals for seed in seeds):
        run = partial(run_arm, dataset=dataset, seed=seed, deal=deal, options=options)
        for arm, own in zip(ARMS, in_processes(run, ARMS, options.processes), strict=True):
            ran[arm][len(seeds) * (deal - 1) + seed] = own
        yield list(rows_of(ran, Workspace.read(dataset).params))


def first_product(dataset: str, seed: int, options: argparse.Namespace) -> Product:
    """Return the folder with the first network of a seed, which all arms link."""
    folder = Path(options.kept, f"{dataset}-first-{seed}")
    return Product.of(Workspace.read(dataset).folder, folder, seed)


def run_arm(
    arm: str, dataset: str, seed: int, deal: int, options: argparse.Namespace
) -> pl.DataFrame:
    """Run one arm, unless its values are kept; its product is removed at the end."""
    size = f"{options.weeks}x{options.budget}-every-{options.every}"
    folder = Path(options.kept, f"{dataset}-{arm}-{seed}-{deal}-{size}")
    kept = folder.with_suffix(".parquet")
    if not kept.is_file():
        weeks = read_weeks(Workspace.read(dataset), data_folder(), options.weeks, deal)
        product = Product.of(first_product(dataset, seed, options).folder, folder, seed)
        with one_thread():
            values = Arm(arm, options.budget, options.every, weeks, product).run()
        write_frame(values, kept, EMPTY.schema)
        shutil.rmtree(folder)
    return read_frame(kept, EMPTY.schema)


def rows_of(ran: Mapping[str, Mapping[int, pl.DataFrame]], params: AllParams) -> Iterator[Row]:
    """Yield the figures of every arm, and its gains over others."""
    values: dict[str, Seeds] = {}
    for arm, by_run in ran.items():
        values[arm] = {run: with_sums(own) for run, own in by_run.items()}
        for row in figures(arm, values[arm], {name: name for name in METRICS}, params):
            yield row if row.n > 1 else row._replace(low=None, high=None)
        yield from counted(arm, values[arm])
    ranked = pl.col("success_at_1").is_not_null()
    for mine, theirs in COMPARED:
        ours, others = (
            {run: own.filter(ranked) for run, own in values[arm].items()} for arm in (mine, theirs)
        )
        yield from gains(f"{mine}-{theirs}", ours, others, "gain_success_at_1", params)


def counted(arm: str, by_run: Seeds) -> Iterator[Row]:
    """Yield how many later answers the retrainings repair and break, of each run and of all."""
    for run in (*by_run, None):
        frames = by_run.values() if run is None else [by_run[run]]
        later = pl.concat(frames).filter(test=LATER_ANSWERS)
        repaired, broken = later.select(pl.col("repaired", "broken").sum()).row(0)
        if broken:
            counts = {"repaired_answers": repaired, "broken_answers": broken}
            counts["repaired_for_one_broken"] = repaired / broken
            for metric, value in counts.items():
                yield Row(arm, LATER_ANSWERS, metric, value, len(later), seed=run)


def plot(rows: Lines) -> str:
    """Draw success@1 by week, a line an arm, with 95 % intervals."""
    means = over_seeds(where(rows, metric="success_at_1"))

    def draw(whole: Figure) -> None:
        axes = whole.subplots()
        for number, (arm, label) in enumerate(LABELS.items()):
            weeks = sorted(filter(_week, where(means, system=arm)), key=_week)
            positions = [_week(row) + APART * (number - 1) for row in weeks]
            intervals(axes, number, label, positions, weeks)
        axes.set_xlabel("week; the first comes before any review")
        axes.set_ylabel("inputs answered correctly")
        legend(whole, axes, 3)

    return svg("loop", draw)


def _week(row: Line) -> int:
    """Return the week whose inputs a row is of; 0 of any other row."""
    number = row["test"].removeprefix(WEEK)
    return int(number) if number.isdecimal() else 0
