"""Networks on titles, trained on the pairs of a folder and kept as model folders.

A folder of pairs is what the stage `pairs` writes: `strings.parquet`, whose validation queries
judge, and `pairs.parquet`. A killed run goes on from its checkpoint.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.networks.runner import Job, Outcome, Runner, one_thread, training_code
from models.network.kinds import fit_featurizer
from models.network.model_files import save_model
from models.reproducibility.atomic_write import write_bytes
from models.text.featurizer import Featurizer
from models.training.batches import read_pairs
from models.training.checkpoints import Checkpoints, run_key
from models.training.frozen_space import FrozenSpace
from models.training.loop import Look, train
from models.training.run import TrainSettings, describe
from models.training.strings import read_strings
from models.training.title_run import TitleRun

SECONDS = "seconds.json"


@dataclass(frozen=True)
class TitleNetwork(Outcome):
    """A network's folder (`models/network/model_files.py`), and what its training took.

    `seconds`: of processor time on one thread; None if the training was interrupted.
    """

    folder: Path
    seconds: float | None = None


@dataclass(frozen=True)
class TitleNetworks(Runner[TitleNetwork]):
    """Networks on the pairs of one folder.

    Attributes:
        pairs: the folder.
        reference: folder of the model whose space a loss with targets trains into.
        last: whether the weights of the last step are kept, not those of the best look.
    """

    pairs: Path
    reference: Path | None = None
    last: bool = False

    def started(self, settings: TrainSettings) -> tuple[TitleRun, Featurizer]:
        """Return a run at step 0, and its featurizer, fitted on the training strings."""
        strings = read_strings(self.pairs / "strings.parquet")
        with_dissimilar = settings.loss.reads_dissimilar
        pairs = read_pairs(self.pairs / "pairs.parquet", with_dissimilar=with_dissimilar)
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
                write_bytes(json.dumps(time.process_time() - began).encode(), folder / SECONDS)
            write_bytes(json.dumps(trained.history).encode(), history)
            saved.remove()
        looks = [Look._make(look) for look in json.loads(history.read_text(encoding="utf-8"))]
        timed = folder / SECONDS
        seconds = json.loads(timed.read_text(encoding="utf-8")) if timed.is_file() else None
        return TitleNetwork(looks, folder, seconds)

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
