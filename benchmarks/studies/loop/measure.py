"""Ten weeks of vacancy titles, answered, corrected and learned from: queue, random, nothing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from multiprocessing import get_context
from typing import NamedTuple

import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.results import Row
from benchmarks.studies.loop import values
from benchmarks.studies.loop.arm import Arm, Ran
from benchmarks.studies.loop.choosing import ARMS, NOTHING, QUEUE, RANDOM
from benchmarks.studies.loop.retraining import Retraining
from benchmarks.studies.loop.stream import Stream
from benchmarks.systems import champion_settings
from benchmarks.tuning import learning, one_thread
from benchmarks.workspace import data_folder
from tasks.params.whole import AllParams

COMPARED = ((RANDOM, NOTHING), (QUEUE, NOTHING), (QUEUE, RANDOM))
"""Each is less the other; those are measured first that others are compared with."""
SHARES = {name: name for name in values.METRICS}


class Job(NamedTuple):
    """An arm with a seed of training, to run in a process of its own."""

    dataset: str
    arm: str
    seed: int
    options: argparse.Namespace


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Run every arm with every seed; yield the rows of an arm once all of its seeds are through."""
    seeds = range(1, options.seeds + 1)
    stream = Stream.read(dataset, data_folder(), options.weeks)
    for seed in seeds:  # all arms begin with these networks, so that none trains them twice
        made = _retraining(stream, seed, options).first(f"first network, seed {seed}")
        print(f"first network, seed {seed}: best at step {made.best_step}", flush=True)
    jobs = [Job(dataset, arm, seed, options) for arm in ARMS for seed in seeds]
    ran: dict[str, dict[int, Ran]] = {arm: {} for arm in ARMS}
    for job, own in zip(jobs, _outcomes(jobs, options.processes), strict=True):
        ran[job.arm][job.seed] = own
        if job.seed == seeds[-1]:
            print(f"{job.arm}: measured", flush=True)
            yield list(rows_of(job.arm, ran, stream.workspace.params))


def rows_of(arm: str, ran: Mapping[str, Mapping[int, Ran]], params: AllParams) -> Iterator[Row]:
    """Yield the figures of an arm, what it gains over those before it, and how networks learned."""
    own = _values(ran[arm])
    for row in figures(arm, own, SHARES, params):
        yield row if row.n > 1 else row._replace(low=None, high=None)
    for mine, theirs in COMPARED:
        if mine == arm:
            ours, others = _accuracy(own), _accuracy(_values(ran[theirs]))
            yield from gains(f"{mine}-{theirs}", ours, others, "gain_success_at_1", params)
    for week in range(1 + max(max(own.networks) for own in ran[arm].values())):
        if week or arm == NOTHING:  # the first network is the same in every arm
            system = f"{arm}/{values.WEEK}{week}" if week else arm
            yield from learning(
                {system: {seed: one.networks[week] for seed, one in ran[arm].items()}}
            )


def run_arm(job: Job) -> Ran:
    """Run one arm on one thread."""
    stream = Stream.read(job.dataset, data_folder(), job.options.weeks)
    with one_thread(), threadpool_limits(1):
        return Arm(job.arm, job.options.budget, _retraining(stream, job.seed, job.options)).run()


def _outcomes(jobs: list[Job], processes: int) -> Iterator[Ran]:
    if processes == 1:
        yield from map(run_arm, jobs)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(run_arm, jobs)


def _retraining(stream: Stream, seed: int, options: argparse.Namespace) -> Retraining:
    settings = champion_settings(stream.workspace.params, options.steps, options.batch)
    return Retraining(stream, replace(settings, seed=seed), options.kept)


def _values(ran: Mapping[int, Ran]) -> Seeds:
    return {seed: values.with_sums(pl.concat(own.values)) for seed, own in ran.items()}


def _accuracy(by_seed: Seeds) -> Seeds:
    """Return what weeks are compared by."""
    return {seed: own.filter(pl.col("success_at_1").is_not_null()) for seed, own in by_seed.items()}
