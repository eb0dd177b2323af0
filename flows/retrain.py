"""The flow `retrain`: DVC's stages of `report`, then register, gate, push, and a page in Prefect.

No parameter of the flow reaches a stage, or its `dvc.lock` would differ from that of a bare `dvc
repro report`. Registration and promotion follow the graph and read files, because a stage that DVC
restores from its run cache executes no code.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.schedules import Cron, Schedule

from flows.failed_run import leave_page
from flows.processes.command import log_lines
from flows.registry import register_model, run_gate
from flows.stages.target import complete_report, push_target, run_stages
from flows.stages.up_to_date import TARGET
from flows.summary import Summary, as_markdown
from flows.workspaces.workspace import root_of
from tasks.release.registry.outcomes import Promotion, RegisteredVersion

DEPLOYMENT = "monthly"


@flow(name="retrain", on_failure=[leave_page], on_crashed=[leave_page])
def retrain(profile: str = "") -> Summary:
    """Retrain, register the result and promote it if the gate says so.

    A push that fails is a warning, because the model is registered already.

    Args:
        profile: a file of `profiles/`, run in its own workspace; empty: the current directory.
    """
    root = root_of(profile)
    stages = run_stages(root, TARGET)
    version = register(root)
    decision = promote(root, version.version)
    complete_report(root)
    summary = Summary(root, stages, version, decision, push_target(root, TARGET))
    create_markdown_artifact(
        key="retrain", markdown=as_markdown(summary), description="Results and the gate's decision"
    )
    return summary


@task(name="register", task_run_name="register", cache_policy=NO_CACHE, persist_result=False)
def register(root: Path) -> RegisteredVersion:
    """Register the model package of `root`, once per content."""
    version = register_model(root, log_lines())
    state = "was registered already" if version.already_registered else "registered"
    get_run_logger().info("%s version %s %s", version.name, version.version, state)
    return version


@task(name="promote", task_run_name="promote", cache_policy=NO_CACHE, persist_result=False)
def promote(root: Path, version: str) -> Promotion:
    """Let the gate decide whether `version` becomes champion."""
    decision = run_gate(root, version, log_lines())
    verb = "promoted" if decision.promoted else "not promoted"
    get_run_logger().info("version %s %s: %s", version, verb, decision.reason)
    return decision


def read_schedules(root: Path, deployment: str = DEPLOYMENT) -> list[Schedule]:
    """Read the cron schedules of one deployment of `prefect.yaml`, the only place of schedules."""
    deployments = yaml.safe_load((root / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    (schedules,) = (entry["schedules"] for entry in deployments if entry["name"] == deployment)
    return [Cron(entry["cron"], timezone=entry["timezone"]) for entry in schedules]


def serve_on_schedule(root: Path, profile: str) -> None:
    """Retrain on the schedule of `prefect.yaml`, one run at a time; return when interrupted."""
    retrain.serve(
        name=DEPLOYMENT,
        schedules=read_schedules(root),
        parameters={"profile": profile},
        global_limit=ConcurrencyLimitConfig(
            limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE
        ),
        limit=1,
    )
