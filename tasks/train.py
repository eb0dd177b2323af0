"""The trained network of stage K, from `data/pairs/K/{strings,pairs}.parquet`.

Calls the same function as `python -m models.train_files`, with the section `train` of
`params.yaml` and a seed, and the model that `train.compatible_with` names, if any. Out:
`data/train/K/SEED/model/` and `data/train/K/SEED/history.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from models.train_files import train_files
from tasks.command import run
from tasks.earlier_model import earlier_model
from tasks.network_params import training_settings
from tasks.params import load_params
from tasks.sections import Stage


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", required=True, choices=get_args(Stage))
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    pairs = Path(f"data/pairs/{given.stage}")
    params = load_params()
    settings = training_settings(params, given.seed)
    with earlier_model(params.train.compatible_with, Path.cwd()) as earlier:
        train_files(
            pairs / "strings.parquet",
            pairs / "pairs.parquet",
            settings,
            Path(f"data/train/{given.stage}/{given.seed}"),
            Path(".checkpoints"),
            earlier,
        )


if __name__ == "__main__":
    run(main)
