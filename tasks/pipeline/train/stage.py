"""The trained network of a mix K without feedback, from `data/pairs/K/{strings,pairs}.parquet`.

Calls the same function as `python -m models.training.train_files`, with the section `train` of
`params.yaml`, a seed, and if there is one the model in `data/reference_model/`. Out:
`data/train/K/SEED/model/` and `data/train/K/SEED/history.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.training.train_files import train_files
from tasks.io.command import run
from tasks.io.mixes import MIXES, reads_feedback
from tasks.pipeline.train.network_params import NetworkParams, training_settings


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--mix", required=True, choices=[mix for mix in MIXES if not reads_feedback(mix)]
    )
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    pairs = Path(f"data/pairs/{options.mix}")
    network = NetworkParams.read()
    settings = training_settings(network, options.seed)
    train_files(
        pairs / "strings.parquet",
        pairs / "pairs.parquet",
        settings,
        Path(f"data/train/{options.mix}/{options.seed}"),
        Path(".checkpoints"),
        Path("data/reference_model") if network.train.compatible_with else None,
    )


if __name__ == "__main__":
    run(main)
