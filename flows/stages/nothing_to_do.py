"""Whether a run would change anything, known before Prefect is started.

A flow run takes ten seconds of a server's start and end. `reproduce` has nothing to do where every
stage is up to date, `retrain` where the model is registered and decided on as well.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from flows.registry import project_standing
from flows.results import REPORT
from flows.stages.dvc_plan import Outcome, plan_and_skipped, target_address
from flows.summary import Summary, nothing_to_do

TARGET = "report"


def say_so(root: Path) -> bool:
    """Print how things stand in `root`, and tell whether nothing is to do."""
    with suppress(Exception):  # whatever is wrong, the flow meets it again and says it better
        summary = standing_summary(root)
        if summary is not None:
            print(nothing_to_do(summary), flush=True)
            return True
    return False


def standing_summary(root: Path) -> Summary | None:
    """Return how things stand if a run would change nothing, else None; what is not pushed is."""
    stages = unchanged(root, TARGET)
    standing = project_standing(root) if stages and (root / REPORT).is_file() else None
    if stages is None or standing is None:
        return None
    return Summary(root, stages, *standing, push(root, TARGET))


def unchanged(root: Path, target: str) -> dict[str, Outcome] | None:
    """Return the stages of `target` if DVC would skip all of them, else None."""
    plan, skipped = plan_and_skipped(root, target)
    return dict.fromkeys(plan, "unchanged") if len(skipped) == len(plan) else None


def push(root: Path, target: str) -> bool:
    """Push what is not there yet, and tell whether it was done."""
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo:
            repo.push(targets=[target_address(root, target)], with_deps=True)
    except (DvcException, OSError):
        return False
    return True
