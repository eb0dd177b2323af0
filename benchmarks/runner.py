"""Networks of a study: each system trained with every seed.

Every network is trained on one thread, several at a time in processes of their own, from its own
seed, so their number changes no figure. What is trained, and where it is kept, is a runner's
matter: `title_networks.py` on pairs of titles, `pair_networks.py` on scored pairs. What is kept is
named by all that it depends on, so an interrupted study continues behind the last network.

The learning rate and the like stand in `study.yaml` under `tuned`. They are the best of equally
many trials of each system, judged on validation data alone; the trials stand in the study's CSV.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import torch

from benchmarks.results import BEST_STEP, LAST_STEP, Row
from models.training.loop import Look
from models.training.run import TrainSettings, describe
from tasks.pipeline.training_code_hash.stage import code_of

FIRST_SEED = 1
LOOKS = 4  # at the validation data, after the one at step 0


class Job(NamedTuple):
    """A network to train; `name` stands in the lines of progress."""

    name: str
    settings: TrainSettings


@dataclass(frozen=True)
class Outcome:
    """What was seen of a network; the weights of the best look are its own."""

    looks: list[Look]

    @property
    def best_step(self) -> int:
        """Of the best look, of equal ones the first; 0: the network did not learn."""
        return max(self.looks, key=lambda look: look.valid_score).step

    @property
    def last_step(self) -> int:
        """At which training ended."""
        return self.looks[-1].step


Made = TypeVar("Made", bound=Outcome)


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
        """Train one network, unless what came of the very same job is kept."""

    def outcomes(self, jobs: Sequence[Job]) -> list[Made]:
        """Return what came of each job, in their order."""
        counted = [
            Job(f"{job.name} ({number} of {len(jobs)})", job.settings)
            for number, job in enumerate(jobs, 1)
        ]
        if self.processes == 1:
            return [self.outcome(job) for job in counted]
        with get_context("spawn").Pool(self.processes) as pool:
            return list(pool.imap(self.outcome, counted))


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
    """Yield the steps of each network's best look and of its last; best at 0 did not learn."""
    for system, by_seed in made.items():
        for seed, outcome in by_seed.items():
            for metric, step in ((BEST_STEP, outcome.best_step), (LAST_STEP, outcome.last_step)):
                yield Row(system, "training", metric, step, 1, seed=seed)


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
