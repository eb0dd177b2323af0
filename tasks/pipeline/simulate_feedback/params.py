"""Section `simulate_feedback` of `params.yaml`: reviewer and date of the labels."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Section


class SimulateFeedbackParams(Section):
    """Section `simulate_feedback`: reviewer and date of the simulated feedback."""

    NAME: ClassVar[str] = "simulate_feedback"
    reviewer_id: str
    judged_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
