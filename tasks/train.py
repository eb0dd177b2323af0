"""The trained network of mix K, from `data/pairs/K/{strings,pairs}.parquet`.

Calls the same function as `python -m models.training.train_files`, with the section `train` of
`params.yaml` and a seed, and the model in `data/earlier_model/`, if there is one. Out:
`data/train/K/SEED/model/` and `data/train/K/SEED/history.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.training.train_files import train_files
from tasks.files.command import run
from tasks.files.sources import MIXES
from tasks.params.network import NetworkParams, training_settings

EARLIER = Path("data/earlier_model")


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=MIXES)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    pairs = Path(f"data/pairs/{options.mix}")
    network = NetworkParams.read()
    train_files(
        pairs / "strings.parquet",
        pairs / "pairs.parquet",
        training_settings(network, options.seed),
        Path(f"data/train/{options.mix}/{options.seed}"),
        Path(".checkpoints"),
        EARLIER if network.train.compatible_with else None,
    )


if __name__ == "__main__":
    run(main)
