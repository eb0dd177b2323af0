"""The trained network of a variant of stage 4: the pipeline's own, or trained here and kept.

Everything is as section `train` of the workspace has it; only the pairs differ, or the weights
that a run begins with. A network lies in a folder named by all that it depends on, so that asking
it other queries trains nothing again, and a killed run goes on from its checkpoint.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import models
from benchmarks.feedback_variants import CONTROL, VARIANTS
from benchmarks.variant_pairs import Material, variant_pairs
from models.batches import read_pairs
from models.checkpoints import Checkpoint, Checkpoints, run_key
from models.featurizer import Featurizer
from models.kinds import fit_featurizer
from models.model_files import load_model, save_model
from models.run import TrainSettings, describe
from models.strings import Strings, read_strings
from models.title_run import TitleRun
from models.training import train
from tasks.frames import write_frame
from tasks.network_params import training_settings
from tasks.pair_blocks import write_blocks
from tasks.params import AllParams
from tasks.schemas import STRINGS

if TYPE_CHECKING:
    from torch import Tensor

PIPELINE = ("3", "4", "4c")


@dataclass(frozen=True)
class Training:
    """Where networks come from and go to.

    Attributes:
        workspace: in which the pipeline has run.
        params: its `params.yaml`.
        material: what the variants are made of.
        kept: folder of the networks trained here.
        max_steps: in the place of `train.max_steps`; None for that. Then the pipeline's networks
            are trained anew as well, because only equal steps can be compared.
    """

    workspace: Path
    params: AllParams
    material: Material
    kept: Path
    max_steps: int | None

    @property
    def steps(self) -> int:
        """Of a variant that is trained from the first weights."""
        return self.params.train.max_steps if self.max_steps is None else self.max_steps

    def model(self, name: str, seed: int) -> Path:
        """Folder of the variant's network (`models/model_files.py`), trained if it is not there.

        Raises:
            FileNotFoundError: the pipeline has not trained it.
        """
        if name in PIPELINE and self.steps == self.params.train.max_steps:
            folder = self.workspace / f"data/train/{name}/{seed}/model"
            if not folder.is_dir():
                raise FileNotFoundError(f"{folder} is missing: run `make reproduce` first")
            return folder
        begin = self.model(CONTROL, seed) if VARIANTS[name].steps < 1 else None
        with tempfile.TemporaryDirectory() as folder_name:
            trained = self._train(name, seed, begin, Path(folder_name))
        share = VARIANTS[name].weight_of_3
        return trained if begin is None or not share else _mean(begin, trained, share)

    def _train(self, name: str, seed: int, begin: Path | None, folder: Path) -> Path:
        files = [folder / "strings.parquet", folder / "pairs.parquet"]
        made = variant_pairs(VARIANTS[name], self.material, self.params.pairs, self.params.seed)
        write_frame(made[0], files[0], STRINGS)
        rows = write_blocks(made[1], files[1])
        print(f"{name}: " + ", ".join(f"{s} {a} {n}" for (s, a), n in _named(rows)), flush=True)
        settings = self.settings(name, seed)
        code = Path(models.__file__).parent.rglob("*.py")
        first = [] if begin is None else [begin / "weights.safetensors", begin / "featurizer.json"]
        # by content: where the files lie differs from run to run
        inputs = [sha256(path.read_bytes()).hexdigest() for path in [*files, *first]]
        key = run_key([describe(settings), inputs], code)
        out = self.kept / key
        if not (out / "initial.safetensors").is_file():  # the last file that is written
            strings = read_strings(files[0])
            pairs = read_pairs(files[1], with_dissimilar=settings.loss.reads_dissimilar)
            featurizer, saved = _beginning(strings, settings, begin, self.kept, key)
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            trained = train(TitleRun(strings, pairs, featurizer, settings, device), saved)
            save_model(out, featurizer, settings.encoder, trained.weights, trained.initial)
            saved.remove()
        return out

    def settings(self, name: str, seed: int) -> TrainSettings:
        """Section `train`; of a variant that goes on from model 3, the end of its schedule."""
        settings = training_settings(self.params, seed)
        share = VARIANTS[name].steps
        return replace(
            settings,
            max_steps=round(share * self.steps),
            learning_rate=share * settings.learning_rate,
        )


class Continued(Checkpoints):
    """Checkpoints of a run that begins with the weights of another."""

    def __init__(self, folder: Path, key: str, weights: dict[str, Tensor]) -> None:
        super().__init__(folder, key)
        self.weights = weights

    def load(self, encoder: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Checkpoint | None:
        """The run's own state; where there is none, the weights alone, and None."""
        progress = super().load(encoder, optimizer)
        if progress is None:
            encoder.load_state_dict(self.weights)
        return progress


def _mean(begin: Path, trained: Path, share: float) -> Path:
    """A folder beside `trained` with `share` of the weights of `begin` and the rest of its own."""
    featurizer, first = load_model(begin)
    _, last = load_model(trained)
    own = dict(last.state_dict())
    weights = {
        name: torch.lerp(own[name], value, share) for name, value in first.state_dict().items()
    }
    out = trained.with_name(f"{trained.name}-{share:g}")
    save_model(out, featurizer, last.settings, weights, own)
    return out


def _beginning(
    strings: Strings, settings: TrainSettings, begin: Path | None, kept: Path, key: str
) -> tuple[Featurizer, Checkpoints]:
    """A featurizer fitted on the training strings, or the one of the network to begin with."""
    if begin is not None:
        featurizer, encoder = load_model(begin)
        return featurizer, Continued(kept, key, dict(encoder.state_dict()))
    unseen = set(strings.valid.tolist())
    titles = [title for row, title in enumerate(strings.titles) if row not in unseen]
    return fit_featurizer(titles, settings.encoder), Checkpoints(kept, key)


def _named(rows: dict[tuple[str, bool], int]) -> list[tuple[tuple[str, str], int]]:
    kinds = {True: "similar", False: "dissimilar"}
    return [((source, kinds[alike]), n) for (source, alike), n in sorted(rows.items())]
