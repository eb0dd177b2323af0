"""What a training run reads, from the files of a workspace, as `models.train_files` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.batches import Pairs, read_pairs
from models.featurizer import Featurizer
from models.kinds import fit_featurizer
from models.run import TrainSettings
from models.strings import Strings, read_strings
from tasks.network_params import training_settings
from tasks.params import load_params


@dataclass(frozen=True)
class TrainingInputs:
    """Strings, pairs, the featurizer fitted on the training strings, and section `train`."""

    strings: Strings
    pairs: Pairs
    featurizer: Featurizer
    settings: TrainSettings


def read_inputs(workspace: Path, stage: str | None = None) -> TrainingInputs:
    """Inputs of train@stage in `workspace`; stage number and seed are those it serves if None.

    Raises:
        FileNotFoundError: the stage `pairs` has not run there.
    """
    params = load_params(workspace / "params.yaml")
    folder = workspace / "data" / "pairs" / (params.stage if stage is None else stage)
    if not (folder / "pairs.parquet").is_file():
        raise FileNotFoundError(f"{folder}/pairs.parquet is missing: run `make retrain` first")
    settings = training_settings(params, params.seeds[0])
    strings = read_strings(folder / "strings.parquet")
    unseen = set(strings.valid.tolist())
    titles = [title for row, title in enumerate(strings.titles) if row not in unseen]
    return TrainingInputs(
        strings,
        read_pairs(folder / "pairs.parquet", with_dissimilar=settings.loss.reads_dissimilar),
        fit_featurizer(titles, settings.encoder),
        settings,
    )
