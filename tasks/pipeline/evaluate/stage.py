"""The network of mix K, untrained and trained, on every test.

In: `data/split/titles.parquet`, all tests' queries (`tasks/io/queries.py`), `data/calibrate/` and
`data/train/K/SEED/model/`. Out: `data/evaluate/K/SEED/{scores,run}.parquet`, `table.csv` (tidy,
with slices) and `metrics.json`, with the systems `untrained`, as training began, and K, as it
ended, with its exemplars.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.network.model_files import load_model
from models.search.search import Search
from tasks.evaluation.answering import answering
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.ranking import measure, write_measured
from tasks.evaluation.systems import network, read_index
from tasks.io.command import run
from tasks.io.mixes import MIXES
from tasks.io.queries import read_queries
from tasks.io.section import load, load_run


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=MIXES)
    parser.add_argument("--seed", type=int, required=True, help="that it was trained with")
    options = parser.parse_args()
    index, params, place = read_index(), load(EvaluateParams), f"{options.mix}/{options.seed}"
    model = Path(f"data/train/{place}/model")
    untrained = network(*load_model(model, "initial"), index.titles)
    systems = {
        "untrained": Search(index, untrained, params.rule),
        options.mix: answering(model, index, params.rule, Path(f"data/calibrate/{place}")),
    }
    measured = measure(systems, read_queries("test"), params, load_run().seed)
    write_measured(measured, Path(f"data/evaluate/{place}"))


if __name__ == "__main__":
    run(main)
