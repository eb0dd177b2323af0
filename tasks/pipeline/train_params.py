"""Section `train` of `params.yaml`, for stages that read it without importing the networks."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tasks.io.section import Count, Params, Section


class KindParams(Params):
    """`train.encoder` or `train.loss`: a section of `encoders` or `losses`."""

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class TrainParams(Section):
    """Section `train`: the same for every mix and seed."""

    NAME: ClassVar[str] = "train"
    encoder: KindParams
    loss: KindParams
    compatible_with: Annotated[str, Field(pattern=r"^(models:/[^/@]+(/\d+|@[^/@]+))?$")]
    """The version of `tasks/pipeline/reference_model.py`; empty for none."""
    batch_pairs: Annotated[int, Field(ge=2)]
    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear"]
    l2: Annotated[float, Field(ge=0)]
    clip_norm: Annotated[float, Field(gt=0)]
    sparse_updates: bool
    max_steps: Annotated[int, Field(ge=0)]
    evaluate_every: Count
    patience: Count
