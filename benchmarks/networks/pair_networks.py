"""Networks on scored pairs or paraphrases: their scores of test pairs are kept, they are not.

They are trained as in `tasks/papers/similarity/similarity_train.py`, with further test pairs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import torch

from benchmarks.networks.runner import Job, Outcome, Runner, training_code
from models.metrics.correlations import spearman
from models.network.kinds import fit_featurizer
from models.reproducibility.atomic_write import write_bytes
from models.text.featurizer import Featurizer
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Look, train
from models.training.run import TrainSettings, describe
from models.training.scored_pairs import ScoredPairs
from models.training.scored_run import ScoredRun, pair_similarities
from tasks.papers.similarity.pair_files import scaled


@dataclass(frozen=True)
class PairNetwork(Outcome):
    """The kept figures of a network.

    Attributes:
        answers: similarity of each pair of `PairNetworks.tests`.
        tracked: Spearman's ρ on the tracked pairs at each look; empty without such pairs.
    """

    answers: dict[str, list[float]]
    tracked: list[float]


@dataclass(frozen=True)
class PairNetworks(Runner[PairNetwork]):
    """Networks on some pairs.

    Attributes:
        train: pairs to train on.
        valid: pairs that choose among trials, and among the looks at a network.
        tests: by name, pairs that are scored at the end; a trial has none.
        track: pairs that are scored at every look and choose nothing.
    """

    train: ScoredPairs
    valid: ScoredPairs
    tests: Mapping[str, ScoredPairs] = field(default_factory=dict)
    track: ScoredPairs | None = None

    def outcome(self, job: Job) -> PairNetwork:
        """Train, and keep the network's scores."""
        torch.set_num_threads(1)
        path = self.kept / f"{self._key(job.settings)}.json"
        if not path.is_file():
            write_bytes(json.dumps(asdict(self._trained(job))).encode(), path)
        kept = json.loads(path.read_text(encoding="utf-8"))
        return PairNetwork(**kept | {"looks": [Look._make(look) for look in kept["looks"]]})

    def _trained(self, job: Job) -> PairNetwork:
        featurizer = fit_featurizer(self.train.titles, job.settings.encoder)
        run = _TrackingRun(self, job.settings, featurizer)
        with TemporaryDirectory() as folder:  # a resumed run would lack the scores tracked before
            saved = Checkpoints(Path(folder), "run")
            trained = train(run, saved, lambda line: print(f"{job.name}: {line}", flush=True))
        run.encoder.load_state_dict(trained.weights)
        answers = {name: run.answers(pairs).tolist() for name, pairs in self.tests.items()}
        return PairNetwork(trained.history, answers, run.tracked)

    def _key(self, settings: TrainSettings) -> str:
        trains = ("models.training.scored_run", "models.training.loop")
        code = training_code(settings, *trains)
        tests = {name: _plain(pairs) for name, pairs in self.tests.items()}
        inputs = [_plain(self.train), _plain(self.valid), tests, _plain(self.track)]
        return run_key([describe(settings), inputs, code], [Path(__file__)])


class _TrackingRun(ScoredRun):
    """A run that also scores other pairs at every look."""

    def __init__(
        self, networks: PairNetworks, settings: TrainSettings, featurizer: Featurizer
    ) -> None:
        cpu = torch.device("cpu")
        super().__init__(networks.train, networks.valid, featurizer, settings, cpu)
        self.featurizer, self.track = featurizer, networks.track
        self.tracked: list[float] = []

    def valid_score(self) -> float:
        """Judge as any such run does, and note the score of the tracked pairs."""
        if self.track is not None:
            similarities = self.answers(self.track)
            vary = np.ptp(similarities)
            self.tracked.append(spearman(similarities, gold_of(self.track)) if vary else 0.0)
        return super().valid_score()

    def answers(self, pairs: ScoredPairs) -> np.ndarray:
        """Return the similarity of each pair by the weights as they are."""
        left, right = strings(pairs)
        similarity = self.settings.loss.similarity
        return pair_similarities(self.encoder, self.featurizer, left, right, similarity)


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


def _plain(pairs: ScoredPairs | None) -> object:
    if pairs is None:
        return None
    return [*strings(pairs), None if pairs.scores is None else pairs.scores.tolist()]
