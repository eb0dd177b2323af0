"""`rolecall status`: what a run would do, and why, on one screen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from flows.commands.ending import ending
from flows.commands.place import clone
from flows.failure import Failure
from flows.stages.dvc_plan import reasons
from flows.stages.nothing_to_do import TARGET
from flows.workspaces.workspace import workspace_of

SHOWN = 3  # reasons of a stage


def status(profile: str | None) -> None:
    """Print the stages that a run would start, each with its reasons."""
    with ending():
        root = clone()
        if profile:
            root = existing(root, profile)
        os.chdir(root)  # DVC names files as seen from here
        print("\n".join(_lines(root)))


def existing(root: Path, profile: str) -> Path:
    """Return the profile's workspace as its last run left it.

    Raises:
        Failure: there is none.
    """
    workspace = workspace_of(root, profile)
    if not workspace.is_dir():
        raise Failure(
            f"profile {profile} has not run here yet: `rolecall retrain --profile {profile}` runs "
            "all of its stages"
        )
    return workspace


def _lines(root: Path) -> Iterator[str]:
    """Yield the stages up to date as a number, the others with what has changed for them."""
    stages = reasons(root, TARGET)
    due = {stage: changes for stage, changes in stages.items() if changes}
    yield f"{root}: {len(stages) - len(due)} of {len(stages)} stages are up to date"
    for stage, changes in due.items():
        more = f", and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        yield f"  {stage:<16}{', '.join(changes[:SHOWN])}{more}"
    first = next(iter(due), None)
    waiting = list(stages)[list(stages).index(first) :] if first else []
    behind = [stage for stage in waiting if stage not in due]
    if behind:
        yield f"  behind them, if their files change: {', '.join(behind)}"
    if not due:
        yield "nothing to train; `rolecall registry` says how the model stands"
