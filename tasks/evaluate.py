"""The network of stage K, untrained and trained, on every test.

In: `data/split/aliases.parquet`, all tests' queries (`tasks/queries.py`) and
`data/train/K/SEED/model/`. Out: `data/evaluate/K/SEED/{scores,run}.parquet`, `table.csv` (tidy,
with slices) and `metrics.json`, with the systems `untrained` and K.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from tasks.command import run
from tasks.measured import measure, read_index, write_measured
from tasks.params import load_params
from tasks.queries import read_queries
from tasks.sections import Stage
from tasks.systems import network_systems


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", required=True, choices=get_args(Stage))
    parser.add_argument("--seed", type=int, required=True, help="that it was trained with")
    given = parser.parse_args()
    params, index = load_params(), read_index()
    model = Path(f"data/train/{given.stage}/{given.seed}/model")
    systems = network_systems(model, given.stage, index.titles)
    measured = measure(systems, index, read_queries("test"), params.evaluate, params.seed)
    write_measured(measured, Path(f"data/evaluate/{given.stage}/{given.seed}"))


if __name__ == "__main__":
    run(main)
