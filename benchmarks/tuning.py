"""Networks on pairs: fixed trials of each system, and the best of them trained with every seed.

A trial is trained with seed 1 and judged on validation pairs; it is never asked for a test pair.
Every network is trained on one thread, several at a time in processes of their own, from its own
seed: their number changes no figure. What a network said is kept in a file that is named by all
that it depends on, so an interrupted study goes on behind the last network.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import models
from benchmarks.results_file import Row
from benchmarks.scored_sets import StringPairs
from models.checkpoints import Checkpoint, Checkpoints, run_key
from models.correlations import spearman
from models.featurizer import Featurizer
from models.kinds import fit_featurizer
from models.run import TrainSettings, describe
from models.scored_pairs import ScoredPairs
from models.scored_run import ScoredRun, pair_similarities
from models.training import Look, train
from models.whole_file import write_bytes

TRIALS = 6  # at most, of each system
TRIAL_SEED = 1


class Trial(NamedTuple):
    """Settings that a system may have; `name` says what they are: ``learning_rate=0.001``."""

    system: str
    name: str
    settings: TrainSettings


@dataclass(frozen=True)
class Job:
    """A network to train.

    Attributes:
        name: in the lines that say how far it is.
        settings: of the run; its seed is the network's.
        train: pairs to train on.
        valid: pairs that choose among the looks at it.
        asked: by name, pairs whose similarity it is asked for at the end; nothing of a trial.
        watched: scored pairs that it is asked at every look, which choose nothing.
    """

    name: str
    settings: TrainSettings
    train: StringPairs
    valid: StringPairs
    asked: dict[str, StringPairs] = field(default_factory=dict)
    watched: StringPairs | None = None


@dataclass(frozen=True)
class Outcome:
    """What is kept of a network.

    Attributes:
        looks: at validation pairs; the weights of the best one answer.
        answers: similarity of each pair of `Job.asked`.
        watched: Spearman's ρ on `Job.watched` at each look; empty without such pairs.
        units: distinct units of strings that it knows (n-grams, words, characters).
    """

    looks: list[Look]
    answers: dict[str, list[float]]
    watched: list[float]
    units: int

    @property
    def valid_score(self) -> float:
        """Of the best look."""
        return max(look.valid_score for look in self.looks)


def outcomes(jobs: Sequence[Job], folder: Path, processes: int) -> list[Outcome]:
    """What came of each job, in their order; `folder` is where outcomes are kept."""
    one = partial(outcome, folder=folder)
    if processes == 1:
        return [one(job) for job in jobs]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return list(pool.map(one, jobs))


def outcome(job: Job, folder: Path) -> Outcome:
    """Train it, unless what came of the very same job is kept.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    torch.set_num_threads(1)
    code = [*Path(models.__file__).parent.rglob("*.py"), Path(__file__)]
    inputs = [describe(job.settings), job.train, job.valid, job.asked, job.watched]
    path = folder / f"{run_key(inputs, code)}.json"
    if not path.is_file():
        write_bytes(json.dumps(asdict(_trained(job))).encode(), path)
    kept = json.loads(path.read_text(encoding="utf-8"))
    return Outcome(**kept | {"looks": [Look._make(look) for look in kept["looks"]]})


def check_budget(trials: Sequence[Trial]) -> None:
    """Refuse trials of which not all systems have the same chance.

    Raises:
        ValueError: a system has more than `TRIALS`.
    """
    for system, count in Counter(trial.system for trial in trials).items():
        if count > TRIALS:
            raise ValueError(f"{system} has {count} trials; every system has at most {TRIALS}")


def best(trials: Sequence[Trial], found: Sequence[Outcome]) -> dict[str, Trial]:
    """Of each system the trial with the highest validation score; of equal ones the first.

    Raises:
        ValueError: as `check_budget`.
    """
    check_budget(trials)
    chosen: dict[str, tuple[float, Trial]] = {}
    for trial, made in zip(trials, found, strict=True):
        if trial.system not in chosen or made.valid_score > chosen[trial.system][0]:
            chosen[trial.system] = made.valid_score, trial
    return {system: trial for system, (_, trial) in chosen.items()}


def trial_rows(
    trials: Sequence[Trial], found: Sequence[Outcome], metric: str, n: int
) -> Iterator[Row]:
    """The validation score of every trial, and whether it was chosen; `n`: validation pairs."""
    chosen = best(trials, found)
    for trial, made in zip(trials, found, strict=True):
        figures = {metric: made.valid_score, "chosen": float(chosen[trial.system] == trial)}
        for name, value in figures.items():
            named = {"system": trial.system, "test": f"trial:{trial.name}", "seed": TRIAL_SEED}
            yield {**named, "metric": name, "value": value, "low": None, "high": None, "n": n}


def _trained(job: Job) -> Outcome:
    pairs, valid = ScoredPairs.of(*job.train), ScoredPairs.of(*job.valid)
    featurizer = fit_featurizer(pairs.titles, job.settings.encoder)
    run = _Watched(job, pairs, valid, featurizer)
    trained = train(run, _Unkept(), lambda line: print(f"{job.name}: {line}", flush=True))
    run.encoder.load_state_dict(trained.weights)
    answers = {name: run.asked(asked).tolist() for name, asked in job.asked.items()}
    return Outcome(trained.history, answers, run.seen, sum(featurizer.sizes))


class _Watched(ScoredRun):
    """A run on scored pairs that is also asked other pairs at every look."""

    def __init__(
        self, job: Job, pairs: ScoredPairs, valid: ScoredPairs, featurizer: Featurizer
    ) -> None:
        super().__init__(pairs, valid, featurizer, job.settings, torch.device("cpu"))
        self.featurizer, self.watched = featurizer, job.watched
        self.seen: list[float] = []

    def valid_score(self) -> float:
        """As of any such run; what is watched is noted beside it."""
        if self.watched is not None:
            predicted = self.asked(self.watched)
            gold = np.array(self.watched.scores)
            self.seen.append(spearman(predicted, gold) if np.ptp(predicted) else 0.0)
        return super().valid_score()

    def asked(self, pairs: StringPairs) -> np.ndarray:
        """The similarity of each pair by the weights as they are."""
        similarity = self.settings.loss.similarity
        return pair_similarities(self.encoder, self.featurizer, *pairs[:2], similarity)


class _Unkept(Checkpoints):
    """No state on the way: a network takes minutes, its state half a gigabyte a look."""

    def __init__(self) -> None:
        super().__init__(Path(), "")

    def save(self, *_: Any) -> None:  # noqa: ANN401
        """Write nothing."""

    def load(self, *_: Any) -> Checkpoint | None:  # noqa: ANN401
        """There is none."""
        return None
