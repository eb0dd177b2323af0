"""Section `pairs` of `params.yaml`: how many pairs of each source a mix has."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from tasks.io.mixes import PAIR_SOURCES
from tasks.io.section import Count, Number, Section, Share


class PairsParams(Section):
    """Section `pairs`: how many, in which ratio, and which share each source has."""

    NAME: ClassVar[str] = "pairs"
    positives_per_anchor: Count
    across_languages: Share
    """Of the positives of titles and variants; the others are in the title's own language."""
    pairs_per_verdict: Count
    dissimilar_per_similar: Number
    shares: dict[str, Annotated[float, Field(ge=0, lt=1)]]
    """Of the similar pairs of the mix that adds the source; `feedback` is the most that
    mixes have: each verdict stands in `pairs_per_verdict` pairs, so few have a smaller share."""
    variant_positive: Literal["title", "occupation"]
    """A variant is similar to the title that it is made of, or to any of its occupation."""
    contradicted_pairs: Literal["dropped", "kept"]
    row_group: Annotated[int, Field(ge=1024)]

    @model_validator(mode="after")
    def _every_source_has_a_share(self) -> Self:
        sources = set(PAIR_SOURCES) - {"base"}
        if bad := sorted(sources.symmetric_difference(self.shares)):
            raise ValueError(f"shares are those of {sorted(sources)}; check {bad}")
        return self
