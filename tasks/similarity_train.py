"""One trained system of the similarity track: system NAME of section `similarity`, with one seed.

In: `data/scored_pairs/{pairs,paraphrases}.parquet`. Out, in `data/similarity_train/NAME/SEED/`:
`model/` and `history.csv` as the stage `train` writes them, and counts. Which pairs are left out of
training says `tasks/training_pairs.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import torch

from models.checkpoints import Checkpoints, run_key
from models.kinds import fit_featurizer
from models.model_files import save_model
from models.run import TrainSettings, describe
from models.scored_run import ScoredRun
from models.training import Trained, train
from tasks.command import ROOT, run
from tasks.frames import Schema, write_json
from tasks.pair_files import PAIRS, PARAPHRASES, read_pairs, read_paraphrases
from tasks.params import load_params
from tasks.similarity_params import system_settings
from tasks.tables import write_table
from tasks.training_pairs import TrainingPairs, training_pairs

FOLDER = Path("data/similarity_train")
CODE = ("models", "tasks/pair_files.py", "tasks/training_pairs.py", "tasks/similarity_train.py")
HISTORY: Schema = {
    "step": pl.Int64,
    "loss": pl.Float64,
    "loss_similar": pl.Float64,
    "loss_dissimilar": pl.Float64,
    "valid_score": pl.Float64,
}


def similarity_train(
    pairs: TrainingPairs,
    settings: TrainSettings,
    checkpoints: Checkpoints,
    out: Path,
    say: Callable[[str], None] = print,
) -> Trained:
    """Train on the GPU where there is one, else on the CPU, and write the result to `out`.

    A run that was killed goes on from its checkpoint; the result is the same as without the kill.
    """
    featurizer = fit_featurizer(pairs.train.titles, settings.encoder)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    say(
        f"{len(pairs.train)} pairs of {len(pairs.train.titles)} strings, {len(pairs.valid)} "
        f"validation pairs, {sum(pairs.left_out.values())} left out, on {device.type}"
    )
    trained = train(
        ScoredRun(pairs.train, pairs.valid, featurizer, settings, device), checkpoints, say
    )
    save_model(out / "model", featurizer, settings.encoder, trained.weights, trained.initial)
    history = pl.DataFrame(trained.history, schema=HISTORY, orient="row")
    write_table(history, out / "history.csv", HISTORY)
    write_json(_counts(pairs, trained), out / "metrics.json")
    checkpoints.remove()
    return trained


def _counts(pairs: TrainingPairs, trained: Trained) -> dict[str, Any]:
    return {
        "pairs": {"train": len(pairs.train), "valid": len(pairs.valid)},
        "left_out": pairs.left_out,
        "strings": len(pairs.train.titles),
        "steps": trained.history[-1].step,
        "valid_score": max(look.valid_score for look in trained.history),
    }


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    params = load_params()
    settings = system_settings(params, given.name, given.seed)
    trained_on = params.similarity.systems[given.name].trained_on
    code = [ROOT / name for name in CODE]
    files = [file for path in code for file in ([path] if path.is_file() else path.rglob("*.py"))]
    key = run_key({**describe(settings), "trained_on": trained_on}, [PAIRS, PARAPHRASES, *files])
    pairs = training_pairs(read_pairs(), read_paraphrases(), trained_on)
    out = FOLDER / given.name / str(given.seed)
    similarity_train(pairs, settings, Checkpoints(Path(".checkpoints"), key), out)


if __name__ == "__main__":
    run(main)
