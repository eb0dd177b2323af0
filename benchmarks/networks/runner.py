"""Networks of a study: each system trained with every seed.

Every network is trained on one thread, several at a time in processes of their own, from its own
seed, so their number changes no figure. A runner trains and keeps one kind of network:
`title_networks.py` on pairs of titles, `pair_networks.py` on scored pairs. The name of a kept
network is a hash of its inputs, so an interrupted study continues behind the last network.

The learning rate and the like stand in `study.yaml` under `tuned`. They are the best of equally
many trials of each system, judged on validation data alone; the trials stand in the study's CSV.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import torch

from benchmarks.results import BEST_STEP, Row
from models.training.loop import Look
from models.training.run import TrainSettings, describe
from models.training.train_files import settings_from
from tasks.pipeline.training_code_hash.stage import code_of

FIRST_SEED = 1
LOOKS = 4  # at the validation data, after the one at step 0


class Job(NamedTuple):
    """A network to train; `name` stands in the lines of progress."""

    name: str
    settings: TrainSettings


@dataclass(frozen=True)
class Outcome:
    """The looks at a network in training; its weights are those of the best look."""

    looks: list[Look]


Made = TypeVar("Made", bound=Outcome)
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Runner(ABC, Generic[Made]):
    """Trains networks, or takes them from where they are kept.

    Attributes:
        kept: folder of the outcomes.
        processes: networks that train at a time.
    """

    kept: Path
    processes: int

    @abstractmethod
    def outcome(self, job: Job) -> Made:
        """Train one network, unless the outcome of the very same job is kept."""

    def outcomes(self, jobs: Sequence[Job]) -> list[Made]:
        """Return the outcome of each job, in their order."""
        counted = [
            Job(f"{job.name} ({number} of {len(jobs)})", job.settings)
            for number, job in enumerate(jobs, 1)
        ]
        return in_processes(self.outcome, counted, self.processes)


def in_processes(
    run: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> list[Result]:
    """Run tasks, so many at a time, each in a process of its own; one alone runs them here."""
    if processes == 1:
        return [run(task) for task in tasks]
    with get_context("spawn").Pool(processes) as pool:
        return list(pool.imap(run, tasks))


def training_code(settings: TrainSettings, *modules: str) -> dict[str, str]:
    """Hash the code that trains a network of these kinds, as the stage `training_code_hash` does.

    The folder of a kept network is named by it. A comment, or code that only answers titles, does
    not change it.
    """
    description: dict[str, Any] = describe(settings)
    hashes: dict[str, str] = {}
    for module in modules:
        hashes |= code_of(module, description["encoder"]["kind"], description["loss"]["kind"])
    return hashes


def with_values(settings: TrainSettings, values: Mapping[str, Any]) -> TrainSettings:
    """Return settings with other values; `loss.margin` names a value of the loss.

    Raises:
        ValueError: the settings refuse a value.
    """
    for name, value in values.items():
        split, _, own = name.rpartition(".")
        change: dict[str, Any] = {own: value}
        if split:
            change = {split: replace(getattr(settings, split), **change)}
        settings = replace(settings, **change)
    return settings


def seeded(
    settings: Mapping[str, TrainSettings], seeds: int, runner: Runner[Made]
) -> dict[str, dict[int, Made]]:
    """Train each system with every seed; return the outcomes by system and seed."""
    numbers = range(1, seeds + 1)
    jobs = [
        Job(f"{system}, seed {seed}", replace(own, seed=seed))
        for system, own in settings.items()
        for seed in numbers
    ]
    outcomes = iter(runner.outcomes(jobs))
    return {system: {seed: next(outcomes) for seed in numbers} for system in settings}


def learning(made: Mapping[str, Mapping[int, Outcome]]) -> Iterator[Row]:
    """Yield the step of each network's best look, of equal ones the first; 0: it did not learn."""
    for system, by_seed in made.items():
        for seed, outcome in by_seed.items():
            best = max(outcome.looks, key=lambda look: look.valid_score)
            yield Row(system, "training", BEST_STEP, best.step, 1, seed=seed)


def tuned(
    config: Mapping[str, Any], dataset: str, common: Mapping[str, Any], bounds: Mapping[str, Any]
) -> dict[str, TrainSettings]:
    """Return the settings of each of the `encoders` of `study.yaml`, with its best trial's values.

    `common` are values of all encoders, `bounds` of all trainings. The name of an encoder is its
    kind unless `common` names one.
    """
    return {
        system: with_values(
            settings_from(config["training"] | {"encoder": {"kind": system, **common, **shape}}),
            config["tuned"][dataset][system] | bounds,
        )
        for system, shape in config["encoders"].items()
    }


def bounded(settings: TrainSettings, steps: int, seed: int = FIRST_SEED) -> TrainSettings:
    """Return the same for a number of steps that nothing cuts short, with `LOOKS` on the way."""
    every = max(1, steps // LOOKS)
    return replace(settings, seed=seed, max_steps=steps, evaluate_every=every, patience=steps + 1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Make figures not depend on the number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
