"""The flow `retrain`: DVC's stages of `report`, then register, gate, push, and a page in Prefect.

`rolecall retrain` runs it in the clone or in a profile's workspace; a deployment names the profile.
No parameter of the flow reaches a stage, or its `dvc.lock` would differ from that of a bare `dvc
repro report`. Registration and promotion follow the graph, from files, because a stage that DVC
restores from its run cache executes no code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows.failed_run import leave_page
from flows.registry import Decision, Registered, Registry, project_registry
from flows.stages.dvc_stages import said
from flows.stages.nothing_to_do import TARGET
from flows.stages.target import push_target, run_stages
from flows.summary import Summary, as_markdown
from flows.workspaces.workspace import root_of


@flow(name="retrain", on_failure=[leave_page], on_crashed=[leave_page])
def retrain(profile: str = "") -> Summary:
    """Retrain, register the result and promote it if the gate says so.

    Args:
        profile: a file of `profiles/`, run in its own workspace; empty: the current directory.
    """
    log = get_run_logger()
    registry = project_registry(lambda line: log.info("%s", line))
    return retrain_in(root_of(profile), registry)


def retrain_in(root: Path, registry: Registry) -> Summary:
    """Take the steps of the flow in `root`; called within a flow run.

    Raises:
        StageFailed: with the stage's last lines. Whatever registering or promoting raises goes
            through; a push that fails is a warning, since the model is registered already.
    """
    stages = run_stages(root, TARGET)
    registered = register(root, registry.register)
    decision = promote(root, registered.version, registry.promote)
    complete_report(root)
    pushed = push_target(root, TARGET)
    summary = Summary(root, stages, registered, decision, pushed)
    create_markdown_artifact(
        key="retrain", markdown=as_markdown(summary), description="Results and the gate's decision"
    )
    return summary


@task(name="register", task_run_name="register", cache_policy=NO_CACHE, persist_result=False)
def register(root: Path, with_registry: Callable[[Path], Registered]) -> Registered:
    """Register the artefact of `root`, once per content."""
    registered = with_registry(root)
    state = "was registered already" if registered.already_registered else "registered"
    get_run_logger().info("%s version %s %s", registered.name, registered.version, state)
    return registered


@task(name="promote", task_run_name="promote", cache_policy=NO_CACHE, persist_result=False)
def promote(root: Path, version: str, with_registry: Callable[[Path, str], Decision]) -> Decision:
    """Let the gate decide whether `version` becomes champion."""
    decision = with_registry(root, version)
    verb = "promoted" if decision.promoted else "not promoted"
    get_run_logger().info("version %s %s: %s", version, verb, decision.reason)
    return decision


@task(name="page", task_run_name="page", cache_policy=NO_CACHE, persist_result=False)
def complete_report(root: Path) -> None:
    """Put version, date and decision on top of the report, which no stage may know."""
    said([sys.executable, "-m", "tasks.reporting.decision_page"], root, "the report")
