"""The trained network of stage k, from `data/pairs/K/{strings,pairs}.parquet`.

Calls the same function as `python -m models.train_files`, with the section `train` of
`params.yaml`. Out: `data/train/K/model/` and `data/train/K/history.csv`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.train_files import settings_from, train_files
from tasks.command import run
from tasks.params import load_params


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", type=int, required=True)
    stage = parser.parse_args().stage
    pairs = Path(f"data/pairs/{stage}")
    train_files(
        pairs / "strings.parquet",
        pairs / "pairs.parquet",
        settings_from(load_params().train.model_dump()),
        Path(f"data/train/{stage}"),
        Path(".checkpoints"),
    )


if __name__ == "__main__":
    run(main)
