"""Stage `train_feedback`: the network of a mix K that reads what people judged.

In: `data/pairs/K/{strings,pairs}.parquet` and `data/train/LAST/SEED/`, the network of the last mix
without feedback. Out: as the stage `train`. If `train_feedback.continues`, training goes on from
that network, so that few answers change but those of which people's verdicts speak; without any
verdict its files are copied. Else the weights are new ones (Neculoiu et al. 2016).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from models.training.loop import TrainSettings
from models.training.train_files import train_files
from tasks.io.command import network_options, run
from tasks.io.mixes import CORRECTIONS, LAST, VERDICTS
from tasks.io.section import Count, Section, load
from tasks.pipeline.train import NetworkParams, training_settings


class TrainFeedbackParams(Section):
    """Section `train_feedback`: of the mixes `verdicts` and `corrections`.

    If it `continues`, training starts from the network of the last mix without feedback and of the
    same seed, and the values here replace those of section `train`; else these hold as for any
    other mix.
    """

    NAME: ClassVar[str] = "train_feedback"
    continues: bool
    trainings: Count
    """From that network, with seeds of their own; the mean of their weights is kept."""
    max_steps: Count
    learning_rate: Annotated[float, Field(gt=0)]
    batch_pairs: Annotated[int, Field(ge=2)]
    judged_share: Annotated[float, Field(gt=0, lt=1)]
    """Of the similar pairs of a step; the others are of the taxonomy and its variants."""
    held_weight: Annotated[float, Field(ge=0)]
    """Of the squared distance between where that network and this one put a string, at unit norm,
    in the mean of a step's strings that nobody judged."""


def feedback_settings(settings: TrainSettings, params: TrainFeedbackParams) -> TrainSettings:
    """Return the settings of a training with feedback, from those of other mixes."""
    if not params.continues:
        return settings
    return replace(settings, **params.model_dump(exclude={"continues", "trainings"}))


def main() -> None:
    """Run the stage on its files."""
    options = network_options(__doc__, (VERDICTS, CORRECTIONS))
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
