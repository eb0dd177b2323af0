"""Section `feedback` of `params.yaml`: people's files, and the share held out for the gate."""

from __future__ import annotations

from typing import ClassVar, Literal

from tasks.io.section import Section, Share


class FeedbackParams(Section):
    """Section `feedback`: where people's verdicts stand, and which are kept from training."""

    NAME: ClassVar[str] = "feedback"
    reader: Literal["table"]
    folder: str
    from_labels: bool
    columns: dict[str, str]
    max_rejected_share: Share
    gate_share: Share
