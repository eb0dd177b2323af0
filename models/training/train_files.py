"""Training from two files: `python -m models.training.train_files`, or called by the stage train.

Runs as it stands on a machine that has only torch, numpy, scipy, pyarrow and safetensors. In:
strings and pairs (see `docs/design/files.md`) and settings as JSON. Out, in one folder:
`model/{featurizer,encoder}.json`, `model/{weights,initial}.safetensors` and `history.csv`.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

import torch

from models.network.featurized_strings import FeaturizedStrings
from models.network.kinds import encoder_settings, fit_featurizer, loss_settings
from models.network.model_files import save_model
from models.reproducibility.atomic_write import write_bytes
from models.text.featurizer import Featurizer
from models.training.batches import read_pairs
from models.training.checkpoints import Checkpoints, run_keys
from models.training.frozen_space import FrozenSpace
from models.training.loop import Look, Trained, train
from models.training.run import TrainSettings, describe
from models.training.start import Start, averaged, seeded
from models.training.strings import Strings, read_strings
from models.training.title_run import TitleRun


def train_files(
    strings_file: Path,
    pairs_file: Path,
    settings: TrainSettings,
    out: Path,
    checkpoints: Path,
    earlier: Path | None = None,
    start: Path | None = None,
    trainings: int = 1,
) -> Trained:
    """Train on the GPU where there is one, else on the CPU, and write the result to `out`.

    With `earlier`, the folder of a model, the new one is trained into its space. With `start`, a
    folder that this function wrote, that training is continued on pairs of people's verdicts and
    others, `trainings` times with seeds of their own, whose weights are averaged; without any
    verdict, its result is written as it is.

    A run that was killed goes on from its checkpoint in the folder `checkpoints`, if inputs,
    settings and code are the same; the result is the same as without the kill.

    Raises:
        ValueError: the network of `start` is another than that of `settings`.
    """
    strings = read_strings(strings_file)
    pairs = read_pairs(pairs_file, with_dissimilar=settings.loss.reads_dissimilar)
    started = None if start is None else Start.read(start, settings.encoder)
    featurizer = _fitted(strings, settings) if started is None else started.featurizer
    read = [strings_file, pairs_file, *Path(__file__).parents[1].rglob("*.py")]
    for folder in (earlier, start):
        read += [] if folder is None else [path for path in folder.rglob("*") if path.is_file()]
    runs = [settings] if started is None else seeded(settings, trainings)
    keys = run_keys([describe(own) for own in runs], read)
    saved = [Checkpoints(checkpoints, key) for key in keys]
    if started is not None and not pairs.judged.any():
        print(f"no verdict to learn from: the network of {start} stays as it is")
        trained = started.trained
    else:
        frozen = None if earlier is None else FrozenSpace.of_aliases(earlier, strings)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        print(
            f"{len(strings.aliases)} aliases, {len(strings.titles)} strings, {len(pairs.similar)} "
            f"similar pairs, {len(strings.valid)} validation queries, on {device.type}"
        )
        units = FeaturizedStrings.of(strings.titles, featurizer, device)

        def outcome(own: TrainSettings, kept: Checkpoints) -> Trained:
            parts = strings, pairs, featurizer, own, device, frozen, units
            if started is None:
                return train(TitleRun(*parts), kept)
            weights, initial, _ = started.trained
            return train(TitleRun(*parts, weights), kept)._replace(initial=initial)

        results = [outcome(own, kept) for own, kept in zip(runs, saved, strict=True)]
        trained = results[0] if started is None else started.continued(averaged(results))
    save_model(out / "model", featurizer, settings.encoder, trained.weights, trained.initial)
    write_bytes(_history(trained.history), out / "history.csv")
    for kept in saved:
        kept.remove()
    return trained


def _fitted(strings: Strings, settings: TrainSettings) -> Featurizer:
    """Fit on what is trained on: a character of the validation queries alone stays unknown."""
    unseen = set(strings.valid.tolist())
    titles = [title for row, title in enumerate(strings.titles) if row not in unseen]
    return fit_featurizer(titles, settings.encoder)


def settings_from(values: dict[str, Any]) -> TrainSettings:
    """Settings from nested plain values; `kind` in `encoder` and `loss` chooses the class."""
    encoder, loss = encoder_settings(values["encoder"]), loss_settings(values["loss"])
    return TrainSettings(**values | {"encoder": encoder, "loss": loss})


def _history(looks: list[Look]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Look._fields)
    writer.writerows(looks)
    return text.getvalue().encode()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strings", type=Path, required=True, dest="strings_file")
    parser.add_argument("--pairs", type=Path, required=True, dest="pairs_file")
    parser.add_argument("--settings", type=Path, required=True, help="JSON of section `train`")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--earlier", type=Path, help="folder of the model to be compatible with")
    parser.add_argument("--start", type=Path, help="folder of a result to continue")
    parser.add_argument("--trainings", type=int, default=1, help="from there, to be averaged")
    parser.add_argument("--checkpoints", type=Path, default=Path(".checkpoints"))
    options = parser.parse_args()
    options.settings = settings_from(json.loads(options.settings.read_text(encoding="utf-8")))
    train_files(**vars(options))


if __name__ == "__main__":
    main()
