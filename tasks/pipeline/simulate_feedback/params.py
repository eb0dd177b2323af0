"""Section `simulate_feedback` of `params.yaml`: in whose name labels judge."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Section


class SimulateFeedbackParams(Section):
    """Section `simulate_feedback`: who judges the predictions of mix 3, and when."""

    NAME: ClassVar[str] = "simulate_feedback"
    reviewer_id: str
    judged_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
