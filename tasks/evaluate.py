"""The network of mix K, untrained and trained, on every test.

In: `data/split/titles.parquet`, all tests' queries (`tasks/files/queries.py`) and
`data/train/K/SEED/model/`. Out: `data/evaluate/K/SEED/{scores,run}.parquet`, `table.csv` (tidy,
with slices) and `metrics.json`, with the systems `untrained`, as training began, and K, as it
ended.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.network.model_files import load_model
from tasks.evaluation.measured import measure, write_measured
from tasks.evaluation.systems import EvaluateParams, network, read_index
from tasks.files.command import run
from tasks.files.queries import read_queries
from tasks.files.sources import MIXES
from tasks.params.section import load, load_run


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=MIXES)
    parser.add_argument("--seed", type=int, required=True, help="that it was trained with")
    options = parser.parse_args()
    index = read_index()
    model = Path(f"data/train/{options.mix}/{options.seed}/model")
    systems = {
        "untrained": network(*load_model(model, "initial"), index.titles),
        options.mix: network(*load_model(model), index.titles),
    }
    measured = measure(systems, index, read_queries("test"), load(EvaluateParams), load_run().seed)
    write_measured(measured, Path(f"data/evaluate/{options.mix}/{options.seed}"))


if __name__ == "__main__":
    run(main)
