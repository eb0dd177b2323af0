"""Tells whether a run would change anything, before Prefect is started.

A flow run spends ten seconds on a server's start and end. `reproduce` has nothing to do if every
stage is up to date, `retrain` if the model is also registered and decided on.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from flows.registry import current_version
from flows.results import REPORT
from flows.stages.dvc_plan import Outcome, plan_and_skipped, target_address
from flows.stages.special_files import keep_out_special_files
from flows.summary import Summary, as_text

TARGET = "report"


def print_if_up_to_date(root: Path) -> bool:
    """If there is nothing to do in `root`, push its data, print its model and return True.

    The registry is read while DVC compares and pushes files, because each takes seconds.
    """
    if not (root / REPORT).is_file():
        return False
    # whatever fails, the flow meets the same error and explains it better
    with suppress(Exception), ThreadPoolExecutor(1) as background:
        reading = background.submit(current_version, root)
        stages = unchanged(root, TARGET)
        pushed = bool(stages) and push_unchanged(root, TARGET)
        if stages and (version := reading.result()):
            text = as_text(Summary(root, stages, *version, pushed), up_to_date=True)
            print(*keep_out_special_files(root), text, sep="\n", flush=True)
            return True
    return False


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
