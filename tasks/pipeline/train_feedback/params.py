"""Section `train_feedback` of `params.yaml`: how a network learns what people answered."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Count, Section


class TrainFeedbackParams(Section):
    """Section `train_feedback`: of the mixes `verdicts` and `corrections`.

    If it `continues`, training starts from the network of mix `extra_words` and of the same seed,
    and the values here replace those of section `train`; else these hold as for any other mix.
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
