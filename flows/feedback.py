"""The flow `feedback`: people's files taken in, versioned, and at work in the champion at once.

Of DVC's stages it runs `feedback` alone: it reads the folder of files, refuses bad rows with their
reasons and keeps what was said, by whom and when, under its hash in `dvc.lock`. Then the champion
is registered once more with what people said, without training; the next `retrain` learns from it.
Everything follows from files and the registry, so that a run which was killed is run again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows import results
from flows.failed_run import leave_page
from flows.registry import Decision, Registered, project_corrections
from flows.stages.check import check_params
from flows.stages.dvc_stages import repro, run_stage, said
from flows.stages.target import push_target
from flows.workspaces.workspace import root_of

STAGE = "feedback"
NEEDED = "data/score/feedback.csv"
"""What the stages before it have made, the last one."""
COUNTS = Path("data/feedback/metrics.json")
PickedUp = tuple[Registered, Decision] | None


@flow(name="feedback", on_failure=[leave_page], on_crashed=[leave_page])
def feedback(profile: str = "") -> dict[str, str]:
    """Take in people's files and correct the champion.

    Args:
        profile: a file of `profiles/`, whose folder of files and model are meant; empty: those of
            the current directory.

    Returns:
        what was done, as facts.
    """
    return feedback_in(root_of(profile))


def feedback_in(root: Path) -> dict[str, str]:
    """Take the steps of the flow in `root`; called within a flow run.

    Where nothing has been trained yet there is nothing to correct: the files wait.

    Raises:
        StageFailed: with the stage's last words.
    """
    if not (root / NEEDED).is_file():
        return {"model": f"none yet in {root}: `rolecall retrain` learns from the files, too"}
    log = get_run_logger()
    check_params(root, lambda line: log.info("%s", line))
    with repro(root, [STAGE]) as stages:
        outcomes = [run_stage(stage, lines) for stage, lines in stages]
    if outcomes != ["unchanged"]:
        push_target(root, STAGE)
    done = correct(root)
    if done:
        complete_report(root)
    told = facts(json.loads((root / COUNTS).read_text(encoding="utf-8")), done)
    create_markdown_artifact(
        key="feedback",
        markdown=results.as_markdown(list(told.items()), ("", "feedback")),
        description="What was taken in, and what the champion made of it",
    )
    return told


@task(name="correct", task_run_name="correct", cache_policy=NO_CACHE, persist_result=False)
def correct(root: Path) -> PickedUp:
    """Put what people said to work."""
    log = get_run_logger()
    return project_corrections(root, lambda line: log.info("%s", line))


@task(name="page", task_run_name="page", cache_policy=NO_CACHE, persist_result=False)
def complete_report(root: Path) -> None:
    """Put the decision on top of the report."""
    said([sys.executable, "-m", "tasks.reporting.decision_page"], root, "the report")


def facts(counts: dict[str, Any], done: PickedUp) -> dict[str, str]:
    """Say what came of it, from the stage's counts and the gate's decision."""
    refused = sum(sum(reasons.values()) for reasons in counts["rejected"].values())
    told = {
        "rows": f"{sum(counts['rows_read'].values()):,} read, {refused:,} refused",
        "titles": f"{counts['told']:,} looked up, {counts['no_job_title']:,} of them as none",
        "disputed": f"{counts['conflicts']:,}",
    }
    if done is None:
        return told | {"model": "the champion knows all of it already"}
    registered, decision = done
    word = "champion" if decision.promoted else "not promoted"
    return told | {
        "model": f"{registered.name} version {registered.version}",
        "gate": f"{word}: {decision.reason}",
    }
