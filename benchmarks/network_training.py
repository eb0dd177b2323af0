"""Networks on titles for a study: tuned by a few trials, trained with every seed, and kept.

A network lies in a folder named by all that it depends on (settings, files, code), so that asking
for it again trains nothing, and a killed run goes on from its checkpoint: an interrupted study
started again goes on where it was. Every network is trained on one thread, several at a time in
processes of their own, from its own seed: their number changes no figure. A trial is judged on the
validation queries, which also choose among the looks at a network; no test is asked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import torch

import models
from benchmarks.results_file import Row
from benchmarks.tuning import Outcome, Trial, best, check_budget, trial_rows
from models.batches import read_pairs
from models.checkpoints import Checkpoints, run_key
from models.featurizer import Featurizer
from models.frozen_space import FrozenSpace
from models.kinds import fit_featurizer
from models.model_files import save_model
from models.run import TrainSettings, describe
from models.strings import read_strings
from models.title_run import TitleRun
from models.training import Look, train
from models.whole_file import write_bytes

LOOKS = 4  # at the validation queries, after the one at step 0


@dataclass(frozen=True)
class Bounds:
    """Steps of a trial and of a network, networks of a system, and how many train at a time."""

    trial_steps: int
    steps: int
    seeds: int
    processes: int


@dataclass(frozen=True)
class Place:
    """Where networks come from and go to.

    Attributes:
        pairs: folder of one stage of a workspace, ``data/pairs/K``.
        kept: folder of the networks.
        earlier: folder of the model whose space a loss with targets trains into.
    """

    pairs: Path
    kept: Path
    earlier: Path | None = None


class Job(NamedTuple):
    """A network to train; `name` stands in the lines that say how far it is."""

    name: str
    settings: TrainSettings


class Tuned(NamedTuple):
    """Of each system the folders of its networks, seed by seed, their settings, rows of trials."""

    networks: dict[str, dict[int, Path]]
    settings: dict[str, TrainSettings]
    rows: list[Row]


def tuned(trials: Sequence[Trial], place: Place, bounds: Bounds) -> Tuned:
    """Train all trials, then the best one of each system with every seed.

    Raises:
        ValueError: a system has more trials than any may have.
        FileNotFoundError: the stage `pairs` has not run.
    """
    check_budget(trials)
    jobs = [Job(f"{each.system}, {each.name}", each.settings) for each in trials]
    found = [outcome(folder) for folder in networks(jobs, place, bounds.processes)]
    chosen = best(trials, found)
    settings = {
        system: bounded(trial.settings, bounds.steps, trial.settings.seed)
        for system, trial in chosen.items()
    }
    seeds = range(1, bounds.seeds + 1)
    jobs = [
        Job(f"{system}, seed {seed}", replace(own, seed=seed))
        for system, own in settings.items()
        for seed in seeds
    ]
    folders = iter(networks(jobs, place, bounds.processes))
    asked = len(read_strings(place.pairs / "strings.parquet").valid)
    rows = list(trial_rows(trials, found, "valid_success_at_1", asked))
    return Tuned({system: {s: next(folders) for s in seeds} for system in settings}, settings, rows)


def bounded(settings: TrainSettings, steps: int, seed: int) -> TrainSettings:
    """The same for a number of steps that nothing cuts short, with `LOOKS` on the way."""
    every = max(1, steps // LOOKS)
    return replace(settings, seed=seed, max_steps=steps, evaluate_every=every, patience=steps + 1)


def networks(jobs: Sequence[Job], place: Place, processes: int) -> list[Path]:
    """The folder of each job's network, in their order (`models/model_files.py`)."""
    if not (place.pairs / "pairs.parquet").is_file():
        raise FileNotFoundError(f"{place.pairs}/pairs.parquet is missing: run `make reproduce`")
    counted = [
        Job(f"{job.name} ({number} of {len(jobs)})", job.settings)
        for number, job in enumerate(jobs, 1)
    ]
    one = partial(network, place=place)
    if processes == 1:
        return [one(job) for job in counted]
    with get_context("spawn").Pool(processes) as pool:
        return list(pool.imap(one, counted))


def network(job: Job, place: Place) -> Path:
    """The folder of a network, trained if it is not there.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    out = place.kept / _key(job.settings, place)
    if (out / "history.json").is_file():  # the last file that is written
        return out
    saved = Checkpoints(place.kept, out.name)
    with one_thread():
        featurizer, run = start(job.settings, place)
        trained = train(run, saved, lambda line: print(f"{job.name}: {line}", flush=True))
    save_model(out, featurizer, job.settings.encoder, trained.weights, {})
    write_bytes(json.dumps(trained.history).encode(), out / "history.json")
    saved.remove()
    return out


class Started(NamedTuple):
    """A run at step 0, and what its strings were featurized by."""

    featurizer: Featurizer
    run: TitleRun


def start(settings: TrainSettings, place: Place) -> Started:
    """A run on the CPU; those of equal settings begin with the same weights."""
    strings = read_strings(place.pairs / "strings.parquet")
    with_dissimilar = settings.loss.reads_dissimilar
    pairs = read_pairs(place.pairs / "pairs.parquet", with_dissimilar=with_dissimilar)
    unseen = set(strings.valid.tolist())
    titles = [title for row, title in enumerate(strings.titles) if row not in unseen]
    featurizer = fit_featurizer(titles, settings.encoder)
    earlier = _earlier(settings, place)
    frozen = None if earlier is None else FrozenSpace.of_aliases(earlier, strings)
    cpu = torch.device("cpu")
    return Started(featurizer, TitleRun(strings, pairs, featurizer, settings, cpu, frozen))


def outcome(folder: Path) -> Outcome:
    """What was seen of a kept network while it was trained."""
    looks = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    return Outcome([Look._make(look) for look in looks], {}, [], 0)


@contextmanager
def one_thread() -> Iterator[None]:
    """Figures that do not depend on the number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _earlier(settings: TrainSettings, place: Place) -> Path | None:
    return place.earlier if settings.loss.needs_targets else None


def _key(settings: TrainSettings, place: Place) -> str:
    earlier = _earlier(settings, place)
    read = [place.pairs / "strings.parquet", place.pairs / "pairs.parquet"]
    read += [] if earlier is None else sorted(earlier.glob("*.*"))
    return run_key(describe(settings), [*read, *Path(models.__file__).parent.rglob("*.py")])
