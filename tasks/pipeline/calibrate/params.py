"""Section `calibrate` of `params.yaml`: weights of exemplars, and the rejection rate."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Count, Section, Share


class CalibrateParams(Section):
    """Section `calibrate`: how much inputs weigh beside the aliases of the taxonomy."""

    NAME: ClassVar[str] = "calibrate"
    prior_power: Share
    auxiliary_titles: Annotated[int, Field(ge=0)]
    pseudo_count: Annotated[float, Field(gt=0)]
    label_weight: Annotated[float, Field(ge=0)]
    input_label_weight: Annotated[float, Field(ge=0)]
    prediction_weight: Annotated[float, Field(ge=0)]
    predictions_per_input: Count
    max_false_rejection_rate: Share
