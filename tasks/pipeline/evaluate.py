"""Stage `evaluate`: the network of mix K, untrained and trained, on every test.

In: `data/split/titles.parquet`, all queries, `data/calibrate/` and `data/train/K/SEED/model/`. Out:
`data/evaluate/K/SEED/{scores,run}.parquet`, `table.csv` (tidy, with slices) and `metrics.json`,
with the systems `untrained`, as training began, and K, as it ended, with its exemplars.
"""

from __future__ import annotations

from pathlib import Path

from models.network.kinds import load_model
from models.serving.search import Search
from tasks.evaluation.answering import answering
from tasks.evaluation.ranking import measure, write_measured
from tasks.evaluation.systems import EvaluateParams, network, read_index
from tasks.io.command import network_options, run
from tasks.io.mixes import MIXES, read_queries
from tasks.io.section import load, load_run


def main() -> None:
    """Run the stage on its files."""
    options = network_options(__doc__, MIXES)
    index, params = read_index(), load(EvaluateParams)
    trained_as = f"{options.mix}/{options.seed}"
    model = Path(f"data/train/{trained_as}/model")
    untrained = network(*load_model(model, "initial"), index.titles)
    systems = {
        "untrained": Search(index, untrained, params.rule),
        options.mix: answering(model, index, params.rule, Path(f"data/calibrate/{trained_as}")),
    }
    measured = measure(systems, read_queries("test"), params, load_run().seed)
    write_measured(*measured, Path(f"data/evaluate/{trained_as}"))


if __name__ == "__main__":
    run(main)
