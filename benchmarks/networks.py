"""Networks of a study, on titles: each system trained with every seed, and kept.

Every network is trained on one thread, several at a time in processes of their own. The name of a
kept network is a hash of its inputs, so an interrupted study continues behind the last network.
`pair_networks.py` has those on scored pairs.

The learning rate and the like stand in a study's YAML under `tuned`. They are the best of equally
many trials of each system on validation data.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import polars as pl
import torch

from benchmarks.results import BEST_STEP, Row
from models.network.kinds import fit_featurizer, save_model
from models.text.featurizer import Featurizer
from models.training.batches import read_pairs, read_strings
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Look, TrainSettings, describe, train
from models.training.title_run import FrozenSpace, TitleRun
from models.training.train_files import settings_from
from tasks.io.files import read_json, write_json
from tasks.io.frames import write_frame
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.drawn_pairs import PairsParams, write_blocks
from tasks.pipeline.pairs.stage import with_feedback
from tasks.pipeline.training_code_hash import code_of

FIRST_SEED = 1
LOOKS = 4  # at the validation data, after the one at step 0
SECONDS = "seconds.json"


class Job(NamedTuple):
    """A network to train."""

    name: str  # in the lines of progress
    settings: TrainSettings


@dataclass(frozen=True)
class Outcome:
    """The looks at a network in training; its weights are those of the best look."""

    looks: list[Look]


@dataclass(frozen=True)
class TitleNetwork(Outcome):
    """A network's folder (`models/network/kinds.py`), and what its training took."""

    folder: Path
    seconds: float | None = None  # of processor time; None if the training was interrupted


Made = TypeVar("Made", bound=Outcome)
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Runner(ABC, Generic[Made]):
    """Trains networks, `processes` at a time, or takes them from the folder `kept`."""

    kept: Path
    processes: int

    @abstractmethod
    def outcome(self, job: Job) -> Made:
        """Train one network, unless the outcome of the very same job is kept."""

    def outcomes(self, jobs: Sequence[Job]) -> list[Made]:
        """Return the outcome of each job, in their order."""
        names = (f"{job.name} ({number} of {len(jobs)})" for number, job in enumerate(jobs, 1))
        counted = [job._replace(name=name) for job, name in zip(jobs, names, strict=True)]
        return in_processes(self.outcome, counted, self.processes)


@dataclass(frozen=True)
class TitleNetworks(Runner[TitleNetwork]):
    """Networks on the pairs of a folder; a killed run continues from its checkpoint."""

    pairs: Path
    reference: Path | None = None  # model whose space a loss with targets trains into
    last: bool = False  # whether the last weights are kept, not those of the best look

    def started(self, settings: TrainSettings) -> tuple[TitleRun, Featurizer]:
        """Return a run at step 0, and its featurizer, fitted on the training strings."""
        strings = read_strings(self.pairs / "strings.parquet")
        file, loss = self.pairs / "pairs.parquet", settings.loss
        pairs = read_pairs(file, with_dissimilar=loss.reads_dissimilar)
        unseen = set(strings.valid.tolist())
        titles = [title for row, title in enumerate(strings.titles) if row not in unseen]
        featurizer = fit_featurizer(titles, settings.encoder)
        reference = self._reference(settings)
        frozen = FrozenSpace.of_aliases(reference, strings) if reference else None
        cpu = torch.device("cpu")
        return TitleRun(strings, pairs, featurizer, settings, cpu, frozen), featurizer

    def outcome(self, job: Job) -> TitleNetwork:
        """Train, keep the model, and return its folder."""
        folder = self.kept / self._key(job.settings)
        history = folder / "history.json"  # the last file that is written
        if not history.is_file():
            saved = Checkpoints(self.kept, folder.name)
            resumed, began = saved.path.is_file(), time.process_time()
            with one_thread():
                run, featurizer = self.started(job.settings)
                trained = train(run, saved, lambda line: print(f"{job.name}: {line}", flush=True))
            weights = run.weights() if self.last else trained.weights
            save_model(folder, featurizer, job.settings.encoder, weights, trained.initial)
            if not resumed:
                write_json(time.process_time() - began, folder / SECONDS)
            write_json(trained.history, history)
            saved.remove()
        looks = [Look._make(look) for look in read_json(history)]
        timed = folder / SECONDS
        return TitleNetwork(looks, folder, read_json(timed) if timed.is_file() else None)

    def _reference(self, settings: TrainSettings) -> Path | None:
        return self.reference if settings.loss.needs_targets else None

    def _key(self, settings: TrainSettings) -> str:
        if not (self.pairs / "pairs.parquet").is_file():
            raise FileNotFoundError(f"{self.pairs}/pairs.parquet is missing: run `make reproduce`")
        read = [self.pairs / "strings.parquet", self.pairs / "pairs.parquet"]
        reference = self._reference(settings)
        read += sorted(reference.glob("*.*")) if reference else []
        code = training_code(settings, "models.training.train_files")
        # by content: where the files lie may differ from run to run
        return run_key([describe(settings), self.last, code], read)


def write_corrected(
    before: Path,
    resolutions: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
    folder: Path,
) -> None:
    """Write the pairs of folder `before` and those of `resolutions`, as the stage `pairs` does."""
    strings, blocks = with_feedback(before, resolutions, params, rng, corrections=True)
    write_blocks(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)


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
    """Return the settings of each of a study's `encoders`, with the values of its best trial."""
    return {
        system: with_values(
            settings_from(config["training"] | {"encoder": {"kind": system, **common, **shape}}),
            config["tuned"][dataset][system] | bounds,
        )
        for system, shape in config["encoders"].items()
    }


def with_values(settings: TrainSettings, values: Mapping[str, Any]) -> TrainSettings:
    """Return settings with other values; `loss.margin` names a value of the loss."""
    for name, value in values.items():
        part, _, own = name.rpartition(".")
        change: dict[str, Any] = {own: value}
        if part:
            change = {part: replace(getattr(settings, part), **change)}
        settings = replace(settings, **change)
    return settings


def bounded(settings: TrainSettings, steps: int, seed: int = FIRST_SEED) -> TrainSettings:
    """Return the same for a number of steps that nothing cuts short, with `LOOKS` on the way."""
    every = max(1, steps // LOOKS)
    return replace(settings, seed=seed, max_steps=steps, evaluate_every=every, patience=steps + 1)


def training_code(settings: TrainSettings, *modules: str) -> dict[str, str]:
    """Hash the code that trains a network of these kinds, as stage `training_code_hash` does."""
    description: dict[str, Any] = describe(settings)
    hashes: dict[str, str] = {}
    for module in modules:
        hashes |= code_of(module, description["encoder"]["kind"], description["loss"]["kind"])
    return hashes


def in_processes(
    run: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> list[Result]:
    """Run tasks, so many at a time, each in a process of its own; one alone runs them here."""
    if processes == 1:
        return [run(task) for task in tasks]
    with get_context("spawn").Pool(processes) as pool:
        return list(pool.imap(run, tasks))


@contextmanager
def one_thread() -> Iterator[None]:
    """Make figures not depend on the number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
