"""Training from two files: `python -m models.training.train_files`, or called by the stage train.

Runs on a machine that has only torch, numpy, numba, scipy, pyarrow and safetensors. In: strings and
pairs (see `docs/design/files.md`) and settings as JSON. Out: `model/{featurizer,encoder}.json`,
`model/{weights,initial}.safetensors` and `history.csv`.

A training can continue an earlier one, and then stays near it: two networks from new weights answer
a tenth of all inputs differently. Several trainings from one start can be averaged (Wortsman et al.
2022, "Model soups"): the mean weakens what only one of them learned.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from models.network import kinds
from models.network.embedding import FeaturizedStrings
from models.reproducibility import child_seed, write_bytes
from models.text.featurizer import Featurizer
from models.training.batches import read_pairs, read_strings
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Look, Trained, TrainSettings, describe, train
from models.training.title_run import FrozenSpace, TitleRun


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
    verdict, its result is written as it is. A run that was killed goes on from its checkpoint in
    the folder `checkpoints`, if inputs, settings and code are the same; the result is the same as
    without the kill. ValueError if the network of `start` is another than that of `settings`.
    """
    strings = read_strings(strings_file)
    pairs = read_pairs(pairs_file, with_dissimilar=settings.loss.reads_dissimilar)
    runs, first = [settings], None
    if start is None:
        # what is trained on: a character of the validation queries alone stays unknown
        unseen = set(strings.valid.tolist())
        titles = [title for row, title in enumerate(strings.titles) if row not in unseen]
        featurizer = kinds.fit_featurizer(titles, settings.encoder)
    else:
        runs = seeded(settings, trainings)
        featurizer, first = _read_start(start, settings)
    read = [strings_file, pairs_file, *Path(__file__).parents[1].rglob("*.py")]
    for folder in filter(None, (earlier, start)):
        read += filter(Path.is_file, folder.rglob("*"))
    saved = [Checkpoints(checkpoints, run_key(describe(run), read)) for run in runs]
    if first is not None and not pairs.judged.any():
        print(f"no verdict to learn from: the network of {start} stays as it is")
        trained = first
    else:
        frozen = None if earlier is None else FrozenSpace.of_aliases(earlier, strings)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        print(
            f"{len(strings.aliases)} aliases, {len(strings.titles)} strings, {len(pairs.similar)} "
            f"similar pairs, {len(strings.valid)} validation queries, on {device.type}"
        )
        units = FeaturizedStrings(strings.titles, featurizer, device)
        before = None if first is None else first.weights
        results = [
            train(TitleRun(strings, pairs, featurizer, run, device, frozen, units, before), kept)
            for run, kept in zip(runs, saved, strict=True)
        ]
        trained = results[0] if first is None else continued(first, results)
    kinds.save_model(out / "model", featurizer, settings.encoder, trained.weights, trained.initial)
    history = io.StringIO()
    csv.writer(history, lineterminator="\n").writerows([Look._fields, *trained.history])
    write_bytes(history.getvalue().encode(), out / "history.csv")
    for kept in saved:
        kept.remove()
    return trained


def seeded(settings: TrainSettings, trainings: int) -> list[TrainSettings]:
    """Return the settings of several trainings, each with a seed of its own."""
    seeds = [child_seed(settings.seed, "training", str(number)) for number in range(trainings)]
    return [replace(settings, seed=seed) for seed in seeds]


def continued(first: Trained, trainings: Sequence[Trained]) -> Trained:
    """Return the mean of `trainings` that started from `first` as one training with it."""
    weights = {k: torch.stack([of.weights[k] for of in trainings]).mean(0) for k in first.weights}
    history = [*first.history]
    for looks in zip(*(trained.history[1:] for trained in trainings), strict=True):
        step = first.history[-1].step + looks[0].step
        figures = zip(*(look[1:] for look in looks), strict=True)
        history.append(Look(step, *(round(sum(each) / len(each), 6) for each in figures)))
    return Trained(weights, first.initial, history)


def settings_from(values: dict[str, Any]) -> TrainSettings:
    """Settings from nested plain values; `kind` in `encoder` and `loss` chooses the class."""
    encoder, loss = kinds.encoder_settings(values["encoder"]), kinds.loss_settings(values["loss"])
    return TrainSettings(**values | {"encoder": encoder, "loss": loss})


def _read_start(folder: Path, settings: TrainSettings) -> tuple[Featurizer, Trained]:
    """Read what `train_files` wrote; units that its featurizer does not know stay unknown."""
    featurizer, network = kinds.load_model(folder / "model")
    if network.settings != settings.encoder:
        fault = f"{folder}/model has the network {network.settings}, not {settings.encoder}"
        raise ValueError(f"{fault}: train it again")
    with (folder / "history.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    looks = [Look(int(step), *map(float, figures)) for step, *figures in rows]
    initial = load_file(folder / "model" / "initial.safetensors")
    return featurizer, Trained(network.state_dict(), initial, looks)


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
