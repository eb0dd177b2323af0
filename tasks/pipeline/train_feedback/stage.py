"""Stage `train_feedback`: the network of a mix K that reads what people judged.

In: `data/pairs/K/{strings,pairs}.parquet` and `data/train/extra_words/SEED/`, the network that is
trained without feedback. Out: as the stage `train`. If `train_feedback.continues`, training goes on
from that network, so that few answers change but those of which people's verdicts speak; without
any verdict its files are copied. Else the weights are new ones (Neculoiu et al. 2016).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from models.training.run import TrainSettings
from models.training.train_files import train_files
from tasks.io.command import run
from tasks.io.mixes import CORRECTIONS, LAST, VERDICTS
from tasks.io.section import load
from tasks.pipeline.train.network_params import NetworkParams, training_settings
from tasks.pipeline.train_feedback.params import TrainFeedbackParams


def feedback_settings(settings: TrainSettings, params: TrainFeedbackParams) -> TrainSettings:
    """Return the settings of a training with feedback, from those of other mixes."""
    if not params.continues:
        return settings
    return replace(settings, **params.model_dump(exclude={"continues", "trainings"}))


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=(VERDICTS, CORRECTIONS))
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    pairs = Path(f"data/pairs/{options.mix}")
    network, params = NetworkParams.read(), load(TrainFeedbackParams)
    train_files(
        pairs / "strings.parquet",
        pairs / "pairs.parquet",
        feedback_settings(training_settings(network, options.seed), params),
        Path(f"data/train/{options.mix}/{options.seed}"),
        Path(".checkpoints"),
        Path("data/reference_model") if network.train.compatible_with else None,
        Path(f"data/train/{LAST}/{options.seed}") if params.continues else None,
        params.trainings,
    )


if __name__ == "__main__":
    run(main)
