"""The trained network of a variant: the pipeline's own, or trained here and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from benchmarks.query_figures import Seeds
from benchmarks.results import Row
from benchmarks.studies.feedback.pairs import Material, variant_pairs
from benchmarks.studies.feedback.variants import CONTROL, variant
from benchmarks.title_networks import TitleNetworks
from benchmarks.tuning import Job, Outcome, learning
from benchmarks.workspace import Exam, Workspace
from models.network.model_files import load_model, save_model
from models.training.run import TrainSettings
from tasks.files.frames import write_frame
from tasks.files.schemas import STRINGS
from tasks.pairing.pair_blocks import write_blocks
from tasks.params.network import training_settings

PIPELINE = ("3", "4", "4c")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True)
class Training:
    """Where networks come from and go to.

    Attributes:
        workspace: in which the pipeline has run.
        material: what the variants are made of.
        kept: folder of the networks trained here.
        max_steps: in the place of `train.max_steps`; None for that. Then the pipeline's networks
            are trained anew as well, because only equal steps can be compared.
    """

    workspace: Workspace
    material: Material
    kept: Path
    max_steps: int | None
    trained: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    """What was seen of the networks that were trained here, by variant and seed."""

    def learned(self, name: str) -> Iterator[Row]:
        """Yield at which step each of a variant's networks was best; at 0, it is still model 3."""
        own = {seed: made for (other, seed), made in self.trained.items() if other == name}
        return learning({name: own})

    def answers(self, name: str, seeds: Sequence[int], exam: Exam) -> Seeds:
        """Return the values of each seed's network by query."""
        return {seed: exam.answers(self.model(name, seed)).drop("system") for seed in seeds}

    def is_pipelines(self, name: str, seed: int) -> bool:
        """Say whether a variant's network is the one that the pipeline has trained."""
        params = self.workspace.params
        equal = self.max_steps in (None, params.train.max_steps)
        return equal and name in PIPELINE and seed in params.seeds

    def model(self, name: str, seed: int) -> Path:
        """Return the folder of the variant's network, trained if it is not there."""
        if self.is_pipelines(name, seed):
            return self.workspace.model(name, seed)
        own = variant(name)
        first = self.model(CONTROL, seed) if own.steps < 1 else None
        params = self.workspace.params
        with tempfile.TemporaryDirectory() as folder:
            pairs = Path(folder)
            known = self.material.known(own, seed)
            strings, blocks = variant_pairs(own, self.material, known, params.pairs, params.seed)
            write_frame(strings, pairs / "strings.parquet", STRINGS)
            write_blocks(blocks, pairs / "pairs.parquet")
            networks = TitleNetworks(self.kept, 1, pairs, first=first, device=DEVICE)
            job = Job(f"{name}, seed {seed}", self.settings(name, seed))
            made = self.trained[name, seed] = networks.outcome(job)
        return _mean(first, made.folder, own.weight_of_3) if first else made.folder

    def settings(self, name: str, seed: int) -> TrainSettings:
        """Return section `train`; of a variant that goes on from model 3, its schedule's end."""
        settings = training_settings(self.workspace.params.network, seed)
        share = variant(name).steps
        steps = self.max_steps or settings.max_steps
        rate = share * settings.learning_rate
        return replace(settings, max_steps=round(share * steps), learning_rate=rate)


def _mean(first: Path, trained: Path, share: float) -> Path:
    """Return a folder with `share` of the weights of `first` and the rest of `trained`'s."""
    if not share:
        return trained
    featurizer, encoder = load_model(first)
    _, last = load_model(trained)
    own = dict(last.state_dict())
    weights = {
        name: torch.lerp(own[name], value, share) for name, value in encoder.state_dict().items()
    }
    folder = trained.with_name(f"{trained.name}-{share:g}")
    save_model(folder, featurizer, last.settings, weights, own)
    return folder
