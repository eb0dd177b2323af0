"""Section `split` of `params.yaml`: how large each split is."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from tasks.io.section import Section, Share, require_sum_of_one


class SplitParams(Section):
    """Section `split`: sizes from which an occupation gives aliases away; shares of inputs."""

    NAME: ClassVar[str] = "split"
    heldout_min_titles: Annotated[int, Field(ge=2)]
    valid_min_titles: Annotated[int, Field(ge=2)]
    gate_min_titles: Annotated[int, Field(ge=2)]
    annotations_share: Share
    gate_share: Share
    valid_share: Share

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        require_sum_of_one(
            annotations_share=self.annotations_share,
            gate_share=self.gate_share,
            valid_share=self.valid_share,
        )
        return self
