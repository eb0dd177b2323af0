"""Stage `train_feedback`: the network of a mix K that reads what people judged.

In: `data/pairs/K/{strings,pairs}.parquet` and `data/train/LAST/SEED/`, the network of the last mix
without feedback. Out: as the stage `train`. If `train_feedback.continues`, training goes on from
that network, so that few answers change but those of which people's verdicts speak; without any
verdict its files are copied. Else the weights are new ones (Neculoiu et al. 2016).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from tasks.io.command import network_options, run
from tasks.io.mixes import CORRECTIONS, LAST, VERDICTS
from tasks.io.section import Count, Section, load
from tasks.pipeline.train import train_mix


class TrainFeedbackParams(Section):
    """Section `train_feedback`: if it `continues`, in place of values of section `train`."""

    NAME: ClassVar[str] = "train_feedback"
    continues: bool
    trainings: Count  # from that network, with seeds of their own; their mean weights are kept
    max_steps: Count
    learning_rate: Annotated[float, Field(gt=0)]
    batch_pairs: Annotated[int, Field(ge=2)]
    judged_share: Annotated[float, Field(gt=0, lt=1)]  # of the similar pairs of a step
    held_weight: Annotated[float, Field(ge=0)]
    """Of the squared distance, at unit norm, of strings that nobody judged from that network's."""


def main() -> None:
    """Run the stage on its files."""
    options = network_options(__doc__, (VERDICTS, CORRECTIONS))
    params, changes, start = load(TrainFeedbackParams), dict[str, Any](), None
    if params.continues:
        changes = params.model_dump(exclude={"continues", "trainings"})
        start = Path(f"data/train/{LAST}/{options.seed}")
    train_mix(options.mix, options.seed, changes, start, params.trainings)


if __name__ == "__main__":
    run(main)
