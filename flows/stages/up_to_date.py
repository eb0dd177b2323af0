"""Tells whether a run would change anything, before Prefect is started.

A flow run spends ten seconds on a server's start and end. `reproduce` has nothing to do if every
stage is up to date, `retrain` if the model is also registered and decided on.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from flows.registry import current_version
from flows.results import REPORT
from flows.stages.dvc_plan import Outcome, plan_and_skipped, target_address
from flows.summary import Summary, as_text

TARGET = "report"


def print_if_up_to_date(root: Path) -> bool:
    """Print the current model of `root` if there is nothing to do, and tell whether that is so."""
    with suppress(Exception):  # the flow meets the same error and explains it better
        summary = current_summary(root)
        if summary is not None:
            print(as_text(summary, up_to_date=True), flush=True)
            return True
    return False


def current_summary(root: Path) -> Summary | None:
    """Return the summary of `root` if a run would change nothing, else None; push its data."""
    stages = unchanged(root, TARGET)
    version = current_version(root) if stages and (root / REPORT).is_file() else None
    if stages is None or version is None:
        return None
    return Summary(root, stages, *version, push_unchanged(root, TARGET))


def unchanged(root: Path, target: str) -> dict[str, Outcome] | None:
    """Return the stages of `target` if DVC would skip all of them, else None."""
    plan, skipped = plan_and_skipped(root, target)
    return dict.fromkeys(plan, "unchanged") if len(skipped) == len(plan) else None


def push_unchanged(root: Path, target: str) -> bool:
    """Push data that the remote lacks, in this process; tell whether that worked."""
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo:
            repo.push(targets=[target_address(root, target)], with_deps=True)
    except (DvcException, OSError):
        return False
    return True
