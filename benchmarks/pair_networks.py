"""Networks on scored pairs or paraphrases, and their measures with 95 % intervals.

They are trained as in `tasks/papers/similarity/similarity_train.py`, with further test pairs, and
only their scores are kept. Pairs are drawn with replacement, the same for every network, so
intervals of a difference are paired. A pooled figure is the mean over the seeds within each draw:
its interval covers other pairs but not other seeds, whose values stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import polars as pl
import torch

from benchmarks.networks import Job, Outcome, Runner, training_code
from benchmarks.results import Row
from models.metrics.correlations import Measure, agreement
from models.network.kinds import fit_featurizer
from models.reproducibility import child_seed
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Look, TrainSettings, describe, train
from models.training.scored_run import ScoredPairs, ScoredRun, pair_similarities
from tasks.io.files import read_json, write_json
from tasks.papers.similarity.pair_files import scaled
from tasks.papers.similarity.similarity_measures import Measured, accuracy, averaged, measured

DRAWS = 1000


@dataclass(frozen=True)
class PairNetwork(Outcome):
    """Similarities of the test pairs, and Spearman's ρ on the tracked pairs at each look."""

    answers: dict[str, list[float]]
    tracked: list[float]


@dataclass(frozen=True)
class PairNetworks(Runner[PairNetwork]):
    """Networks on pairs; `track` are scored at every look and choose nothing."""

    train: ScoredPairs
    valid: ScoredPairs
    tests: Mapping[str, ScoredPairs] = field(default_factory=dict)
    track: ScoredPairs | None = None

    def outcome(self, job: Job) -> PairNetwork:
        """Train, and keep the network's scores."""
        torch.set_num_threads(1)
        path = self.kept / f"{self._key(job.settings)}.json"
        if not path.is_file():
            write_json(asdict(self._trained(job)), path)
        kept = read_json(path)
        return PairNetwork(**kept | {"looks": [Look._make(look) for look in kept["looks"]]})

    def _trained(self, job: Job) -> PairNetwork:
        run = _TrackingRun(self, job.settings)
        with TemporaryDirectory() as folder:  # a resumed run would lack the scores tracked before
            saved = Checkpoints(Path(folder), "run")
            trained = train(run, saved, lambda line: print(f"{job.name}: {line}", flush=True))
        run.encoder.load_state_dict(trained.weights)
        answers = {name: run.answers(pairs).tolist() for name, pairs in self.tests.items()}
        return PairNetwork(trained.history, answers, run.tracked)

    def _key(self, settings: TrainSettings) -> str:
        code = training_code(settings, "models.training.scored_run", "models.training.loop")
        several = [self.train, self.valid, *self.tests.values()]
        several += [] if self.track is None else [self.track]
        plain = [(*strings(pairs), gold_of(pairs).tolist()) for pairs in several]
        inputs = [describe(settings), [*self.tests], self.track is not None, plain, code]
        return run_key(inputs, [Path(__file__)])


class _TrackingRun(ScoredRun):
    """A run that also scores other pairs at every look."""

    def __init__(self, networks: PairNetworks, settings: TrainSettings) -> None:
        self.featurizer = fit_featurizer(networks.train.titles, settings.encoder)
        cpu = torch.device("cpu")
        super().__init__(networks.train, networks.valid, self.featurizer, settings, cpu)
        self.track, self.tracked = networks.track, list[float]()

    def valid_score(self) -> float:
        """Judge as any such run does, and note the score of the tracked pairs."""
        if self.track is not None:
            similarities = self.answers(self.track)
            vary = np.ptp(similarities)
            self.tracked.append(
                agreement("spearman", similarities, gold_of(self.track)) if vary else 0.0
            )
        return super().valid_score()

    def answers(self, pairs: ScoredPairs) -> np.ndarray:
        """Return the similarity of each pair by the weights as they are."""
        similarity = self.settings.loss.similarity
        return pair_similarities(self.encoder, self.featurizer, *strings(pairs), similarity)


def strings(pairs: ScoredPairs) -> tuple[list[str], list[str]]:
    """Return the left and the right strings, cleaned, pair by pair."""
    left, right = (
        [pairs.titles[row] for row in rows.tolist()] for rows in (pairs.left, pairs.right)
    )
    return left, right


def scaled_pairs(pairs: pl.DataFrame) -> ScoredPairs:
    """Return published pairs (`left, right, score` and their `dataset`), scores in [0, 1]."""
    return ScoredPairs.of(*(scaled(pairs)[name].to_list() for name in ("left", "right", "score")))


def gold_of(pairs: ScoredPairs) -> np.ndarray:
    """Return the scores that people gave, in [0, 1]; none of paraphrases."""
    return np.array([]) if pairs.scores is None else pairs.scores.numpy()


def word_overlap(pairs: ScoredPairs) -> list[float]:
    """Return Dice's coefficient of the two sets of words, 2·|A ∩ B| / (|A| + |B|), in [0, 1].

    The baseline that learns nothing. Words stand between spaces once the string is cleaned.
    """
    sides = ([set(text.split()) for text in texts] for texts in strings(pairs))
    return [
        2 * len(left & right) / max(1, len(left) + len(right))
        for left, right in zip(*sides, strict=True)
    ]


class Figure(NamedTuple):
    """A measure of a system's networks on the same `n` pairs."""

    measured: Measured
    n: int


Figures = dict[tuple[str, str], Figure]  # by test and metric


def compared(
    measure: Measure, answers: Sequence[Sequence[float]], gold: np.ndarray, name: str
) -> Figure:
    """Measure predictions of each seed against gold; equal names draw the same pairs."""
    draw = child_seed(0, "pairs", name)
    value = measured(measure, np.array(answers), gold, DRAWS, draw)
    if value is None:
        raise ValueError(
            f"{measure} on {name} is undefined: all predictions of a seed, or all gold, are equal"
        )
    return Figure(value, len(gold))


def separated(
    answers: Sequence[Sequence[float]], gold: np.ndarray, thresholds: Sequence[float], name: str
) -> Figure:
    """Measure the share of pairs that each seed puts on the right side of its threshold."""
    draw = child_seed(0, "pairs", name)
    return Figure(accuracy(np.array(answers), gold, thresholds, DRAWS, draw), len(gold))


def mean_over_sets(figures: Sequence[Figure]) -> Figure:
    """Return the mean of a measure over several sets, each of which counts once; n: all pairs."""
    return Figure(averaged([own.measured for own in figures]), sum(own.n for own in figures))


def gains(mine: Figures, theirs: Figures) -> Figures:
    """Return how much more each figure is than that of another system on the same pairs."""
    return {
        (test, f"gain_{metric}"): Figure(
            Measured(*map(np.subtract, own.measured, theirs[test, metric].measured)), own.n
        )
        for (test, metric), own in mine.items()
    }


def rows_of(system: str, figures: Figures, seeds: Iterable[int] = ()) -> Iterator[Row]:
    """Yield the row of each of `seeds`, then of all; without seeds that one alone."""
    known = list(seeds)
    for (test, metric), (own, n) in figures.items():
        for seed, value in zip(known, own.by_seed.tolist(), strict=False):
            yield Row(system, test, metric, value, n, seed=seed)
        yield Row(system, test, metric, own.value, n, *own.ends)
