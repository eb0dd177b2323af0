"""Section `evaluate` of `params.yaml`: how an occupation scores, and the bootstrap."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from models.search.occupation_scores import ScoreRule
from tasks.io.section import Count, Section


class EvaluateParams(Section):
    """Section `evaluate`: how occupations score, for every system, and what is kept."""

    NAME: ClassVar[str] = "evaluate"
    occupation_score: Literal["best", "soft"]
    soft_temperature: Annotated[float, Field(gt=0)]
    language_weights: dict[str, Annotated[float, Field(gt=0)]]
    run_depth: Count
    bootstrap_draws: Count

    @property
    def rule(self) -> ScoreRule:
        """As the systems take it."""
        return ScoreRule(self.occupation_score, self.soft_temperature, self.language_weights)
