"""The flow `apply-feedback`: reads reviewers' files and applies them to the champion at once."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows import feedback
from flows.runs import leave_page, publish
from flows.workspace import prepare


@flow(name="apply-feedback", log_prints=True, on_failure=[leave_page], on_crashed=[leave_page])
def apply_feedback(profile: str = "") -> dict[str, str]:
    """Read the reviewers' files and correct the champion (`flows/feedback.py`).

    Args:
        profile: a file of `profiles/`, whose feedback folder and model are used; empty: those of
            the current directory.
    """
    outcome = feedback.apply_feedback(prepare(Path.cwd(), profile))
    publish("apply-feedback", outcome, "The feedback that was read, and the champion with it")
    return outcome
