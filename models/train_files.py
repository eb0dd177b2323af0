"""Training from two Parquet files: `python -m models.train_files`, or called by the stage train.

Runs as it stands on a machine that has only torch, numpy, scipy, pyarrow and safetensors. In:
strings and pairs (see `docs/DESIGN.md`) and settings as JSON. Out, in one folder:
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

from models.batches import read_pairs
from models.checkpoints import Checkpoints, run_key
from models.contrastive import ContrastiveSettings
from models.featurizer import CharacterFeaturizer
from models.model_files import save_model
from models.recurrent import RecurrentSettings
from models.strings import read_strings
from models.training import Look, Trained, TrainSettings, describe, train
from models.whole_file import write_bytes


def train_files(
    strings_file: Path, pairs_file: Path, settings: TrainSettings, out: Path, checkpoints: Path
) -> Trained:
    """Train on the GPU where there is one, else on the CPU, and write the result to `out`.

    A run that was killed goes on from its checkpoint in the folder `checkpoints`, if inputs,
    settings and code are the same; the result is the same as without the kill.
    """
    strings = read_strings(strings_file)
    pairs = read_pairs(pairs_file, with_dissimilar=settings.loss.negatives == "pairs")
    # only what is trained on: a character of the validation queries alone stays unknown
    known = set(strings.valid.tolist())
    featurizer = CharacterFeaturizer.fit(
        [title for row, title in enumerate(strings.titles) if row not in known],
        settings.encoder.max_length,
    )
    code = Path(__file__).parent.glob("*.py")
    saved = Checkpoints(checkpoints, run_key(describe(settings), [strings_file, pairs_file, *code]))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(
        f"{len(strings.aliases)} aliases, {len(strings.titles)} strings, {len(pairs.similar)} "
        f"similar pairs, {len(strings.valid)} validation queries, on {device.type}"
    )
    trained = train(strings, pairs, featurizer, settings, saved, device)
    save_model(out / "model", featurizer, settings.encoder, trained.weights, trained.initial)
    write_bytes(_history(trained.history), out / "history.csv")
    saved.remove()
    return trained


def settings_from(values: dict[str, Any]) -> TrainSettings:
    """Settings from nested plain values; the keys `kind` choose a class and are left out."""
    encoder = {name: value for name, value in values["encoder"].items() if name != "kind"}
    loss = {name: value for name, value in values["loss"].items() if name != "kind"}
    return TrainSettings(
        **values | {"encoder": RecurrentSettings(**encoder), "loss": ContrastiveSettings(**loss)}
    )


def _history(looks: list[Look]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Look._fields)
    writer.writerows(looks)
    return text.getvalue().encode()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strings", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--settings", type=Path, required=True, help="JSON of section `train`")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, default=Path(".checkpoints"))
    given = parser.parse_args()
    settings = settings_from(json.loads(given.settings.read_text(encoding="utf-8")))
    train_files(given.strings, given.pairs, settings, given.out, given.checkpoints)


if __name__ == "__main__":
    main()
