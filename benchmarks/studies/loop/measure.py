"""Ten weeks of vacancy titles, answered, corrected and learned from: queue, random, nothing.

The plot has the share of a week's inputs that are answered correctly.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import polars as pl
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from benchmarks.networks.runner import in_processes, learning, one_thread
from benchmarks.pages.plots import intervals, legend, svg
from benchmarks.pages.tables import over_seeds, where
from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Line, Lines, Row
from benchmarks.studies.loop.arm import METRICS, WEEK, Arm, Ran, with_sums
from benchmarks.studies.loop.retraining import Retraining
from benchmarks.studies.loop.reviewer import NOTHING, QUEUE, RANDOM
from benchmarks.studies.loop.stream import Stream
from benchmarks.systems import champion_settings
from benchmarks.workspace import data_folder
from tasks.check_params import AllParams

ARMS = (NOTHING, RANDOM, QUEUE)
COMPARED = ((RANDOM, NOTHING), (QUEUE, NOTHING), (QUEUE, RANDOM))
"""Each is less the other."""
LABELS = {
    QUEUE: "the queue reviewed",
    RANDOM: "random inputs reviewed",
    NOTHING: "nothing reviewed",
}
APART = 0.12
"""Distance between the marks of a week."""


class Job(NamedTuple):
    """An arm with a seed of training, to run in a process of its own."""

    dataset: str
    arm: str
    seed: int
    options: argparse.Namespace


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Run every arm with every seed."""
    seeds = range(1, options.seeds + 1)
    for seed in seeds:  # all arms begin with these networks, so that none trains them twice
        retraining(Job(dataset, NOTHING, seed, options)).first(f"first network, seed {seed}")
    jobs = [Job(dataset, arm, seed, options) for arm in ARMS for seed in seeds]
    ran: dict[str, dict[int, Ran]] = {arm: {} for arm in ARMS}
    for job, own in zip(jobs, in_processes(run_arm, jobs, options.processes), strict=True):
        ran[job.arm][job.seed] = own
    yield list(rows_of(ran, retraining(jobs[0]).stream.workspace.params))


def run_arm(job: Job) -> Ran:
    """Run one arm on one thread."""
    with one_thread(), threadpool_limits(1):
        return Arm(job.arm, job.options.budget, retraining(job)).run()


def retraining(job: Job) -> Retraining:
    """Return how an arm's networks are trained."""
    stream = Stream.read(job.dataset, data_folder(), job.options.weeks)
    params, options = stream.workspace.params, job.options
    settings = champion_settings(params, options.steps, options.batch)
    return Retraining(stream, replace(settings, seed=job.seed), options.kept)


def rows_of(ran: Mapping[str, Mapping[int, Ran]], params: AllParams) -> Iterator[Row]:
    """Yield the figures of every arm, its gains over others, and how its networks learned."""
    values: dict[str, Seeds] = {}
    for arm, by_seed in ran.items():
        values[arm] = {seed: with_sums(pl.concat(own.values)) for seed, own in by_seed.items()}
        for row in figures(arm, values[arm], {name: name for name in METRICS}, params):
            yield row if row.n > 1 else row._replace(low=None, high=None)
        for week in range(arm != NOTHING, 1 + max(max(own.networks) for own in by_seed.values())):
            system = f"{arm}/{WEEK}{week}" if week else arm
            yield from learning({system: {s: own.networks[week] for s, own in by_seed.items()}})
    ranked = pl.col("success_at_1").is_not_null()
    for mine, theirs in COMPARED:
        ours, others = (
            {seed: own.filter(ranked) for seed, own in values[arm].items()}
            for arm in (mine, theirs)
        )
        yield from gains(f"{mine}-{theirs}", ours, others, "gain_success_at_1", params)


def plot(rows: Lines) -> str:
    """Draw success@1 by week, a line an arm, with 95 % intervals."""
    means = over_seeds(where(rows, metric="success_at_1"))

    def draw(whole: Figure) -> None:
        axes = whole.subplots()
        for number, (arm, label) in enumerate(LABELS.items()):
            weeks = sorted(filter(_week, where(means, system=arm)), key=_week)
            places = [_week(row) + APART * (number - 1) for row in weeks]
            intervals(axes, number, label, places, weeks)
        axes.set_xlabel("week; the first comes before any review")
        axes.set_ylabel("inputs answered correctly")
        legend(whole, axes, 3)

    return svg("loop", draw)


def _week(row: Line) -> int:
    """Return the week whose inputs a row is of; 0 of any other row."""
    number = row["test"].removeprefix(WEEK)
    return int(number) if number.isdecimal() else 0
