"""Section `feedback` of `params.yaml`: people's files, and the share held out for the gate."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from tasks.io.section import Section, Share


def local(folder: str) -> str:
    """Return a folder that lies here; ValueError if it is an address."""
    if "://" in folder:
        raise ValueError(
            f"{folder} is an address: name it in the profile, `external: {{reviewed: {folder}}}`, "
            "and set feedback.folder: data/external/reviewed"
        )
    return folder


class FeedbackParams(Section):
    """Section `feedback`: where people's verdicts stand, and which are kept from training."""

    NAME: ClassVar[str] = "feedback"
    reader: Literal["table"]
    folder: Annotated[str, AfterValidator(local)]
    from_labels: bool
    columns: dict[str, str]
    max_rejected_share: Share
    gate_share: Share
