"""Steps of flow runs: bring a target of `dvc.yaml` up to date, stage by stage, push its data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from flows.processes.command import check_params, log_lines, run_command
from flows.processes.streaming import stream
from flows.stages.dvc_plan import Outcome, plan_and_skipped
from flows.stages.dvc_stages import repro, run_stage


def run_stages(root: Path, target: str) -> dict[str, Outcome]:
    """Run `target`'s stages in DVC's order, one at a time in this thread so that they cancel.

    If any stage would run, `params.yaml` is checked as a whole first.
    """
    plan, skipped = plan_and_skipped(root, target)
    log = get_run_logger()
    if len(skipped) < len(plan):
        check_params(root, log_lines())
    log.info("the first %d of %d stages are up to date", len(skipped), len(plan))
    outcomes: dict[str, Outcome] = dict.fromkeys(skipped, "unchanged")
    if len(skipped) < len(plan):
        with repro(root, plan[len(skipped) :]) as stages:
            for stage, lines in stages:
                log.info("stage %d of %d  %s ...", plan.index(stage) + 1, len(plan), stage)
                outcomes[stage] = run_stage(stage, lines)
    return outcomes


@task(name="module", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
def run_module(name: str, module: str, arguments: Sequence[str], root: Path) -> None:
    """Run a module of the pipeline in `root` as a task run of this name.

    Raises:
        StageFailed: with the module's own message.
    """
    run_command(module, arguments, root, log_lines(), name=name)


def complete_report(root: Path) -> None:
    """Put version, date and decision on top of the report, which no stage may know."""
    run_module("decision page", "tasks.release.gate.decision_page", [], root)


def push_target(root: Path, target: str) -> bool:
    """Push the data of `target`; a failure is a warning, because the results are there."""
    pushed = bool(push(root, target, return_state=True).is_completed())
    if not pushed:
        get_run_logger().warning(
            "the data were not pushed: see `dvc remote list` and the lines above; "
            "`dvc push` repeats it. Everything else of this run is done."
        )
    return pushed


@task(
    name="push",
    task_run_name="push",
    retries=2,
    retry_delay_seconds=[2, 10],
    cache_policy=NO_CACHE,
    persist_result=False,
)
def push(root: Path, target: str) -> None:
    """Copy the files that `dvc.lock` names for `target` to DVC's default remote.

    Raises:
        ConnectionError: DVC failed; Prefect tries again after 2 and after 10 seconds.
    """
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "push", "--with-deps", target]
    status, lines = stream(command, root, log_lines())
    if status:
        raise ConnectionError("dvc push: " + "; ".join(lines[-3:]))
