"""One system of the similarity track, NAME of section `similarity`, trained with each seed.

In: `data/scored_pairs/{pairs,paraphrases}.parquet`. Out, in `data/similarity_train/NAME/SEED/`:
`model/` and `history.csv` as the stage `train` writes them, and counts. `training_pairs.py`
says which pairs are left out of training.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
import torch

from models.network.kinds import fit_featurizer
from models.network.model_files import save_model
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import train
from models.training.run import TrainSettings, describe
from models.training.scored_run import ScoredRun
from tasks.evaluation.metric_tables import write_table
from tasks.io.command import run
from tasks.io.frames import read_frame, write_json
from tasks.io.schemas import HISTORY
from tasks.io.section import load
from tasks.papers.similarity.pair_files import PAIRS, PARAPHRASE_PARTS, PARAPHRASES
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS
from tasks.papers.similarity.similarity_params import SimilarityParams, system_settings
from tasks.papers.similarity.training_pairs import TrainingPairs, training_pairs
from tasks.pipeline.train.network_params import NetworkParams

FOLDER = Path("data/similarity_train")
CODE = Path("data/similarity_code")


def similarity_train(
    pairs: TrainingPairs,
    settings: TrainSettings,
    checkpoints: Checkpoints,
    out: Path,
) -> None:
    """Train on the GPU where there is one, else on the CPU, and write the result to `out`.

    A run that was killed goes on from its checkpoint; the result is the same as without the kill.
    """
    featurizer = fit_featurizer(pairs.train.titles, settings.encoder)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(
        f"{len(pairs.train)} pairs of {len(pairs.train.titles)} strings, {len(pairs.valid)} "
        f"validation pairs, {sum(pairs.left_out.values())} left out, on {device.type}"
    )
    scored_run = ScoredRun(pairs.train, pairs.valid, featurizer, settings, device)
    trained = train(scored_run, checkpoints)
    save_model(out / "model", featurizer, settings.encoder, trained.weights, trained.initial)
    history = pl.DataFrame(trained.history, schema=HISTORY, orient="row")
    write_table(history, out / "history.csv", HISTORY)
    counts = {
        "pairs": {"train": len(pairs.train), "valid": len(pairs.valid)},
        "left_out": pairs.left_out,
        "strings": len(pairs.train.titles),
        "steps": trained.history[-1].step,
        "valid_score": max(look.valid_score for look in trained.history),
    }
    write_json(counts, out / "metrics.json")
    checkpoints.remove()


def main() -> None:
    """Run the stage on its files, seed by seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    name = parser.parse_args().name
    params, network = load(SimilarityParams), NetworkParams.read()
    by_seed = {seed: system_settings(network, params, name, seed) for seed in params.seeds}
    trained_on = params.systems[name].trained_on
    pairs = training_pairs(
        read_frame(PAIRS, SCORED_PAIRS), read_frame(PARAPHRASES, PARAPHRASE_PARTS), trained_on
    )
    for seed, settings in by_seed.items():
        described = {**describe(settings), "trained_on": trained_on}
        key = run_key(described, [PAIRS, PARAPHRASES, CODE / f"{name}.json"])
        checkpoints = Checkpoints(Path(".checkpoints"), key)
        similarity_train(pairs, settings, checkpoints, FOLDER / name / str(seed))


if __name__ == "__main__":
    run(main)
