"""Whether a run of `retrain` would change anything, known before Prefect is started.

A flow run takes ten seconds of a server's start and end; where every stage is up to date and the
model is registered and decided on, there is nothing for it to do.
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
    plan, skipped = plan_and_skipped(root, TARGET)
    is_whole = len(skipped) == len(plan) and (root / REPORT).is_file()
    standing = project_standing(root) if is_whole else None
    if standing is None:
        return None
    stages: dict[str, Outcome] = dict.fromkeys(plan, "unchanged")
    return Summary(root, stages, *standing, _push(root))


def _push(root: Path) -> bool:
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo:
            repo.push(targets=[target_address(root, TARGET)], with_deps=True)
    except (DvcException, OSError):
        return False
    return True
