"""A target of `dvc.yaml` brought up to date, stage by stage, and its data pushed.

What the flows `retrain` and `reproduce` share; called within a flow run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from flows.processes.streaming import stream
from flows.stages.check import check_params
from flows.stages.dvc_plan import Outcome, plan_and_skipped
from flows.stages.dvc_stages import repro, run_stage


def run_stages(root: Path, target: str) -> dict[str, Outcome]:
    """Run `target`'s stages in DVC's order, one at a time in this thread so that they cancel.

    Before the first of them `params.yaml` is checked as a whole.
    """
    plan, done = plan_and_skipped(root, target)
    log = get_run_logger()  # here, because not every line is said in the run's own thread
    if len(done) < len(plan):
        check_params(root, lambda line: log.info("%s", line))
    log.info("the first %d of %d stages are up to date", len(done), len(plan))
    outcomes: dict[str, Outcome] = dict.fromkeys(done, "unchanged")
    due = plan[len(done) :]
    if due:
        with repro(root, due) as stages:
            for stage, lines in stages:
                log.info("stage %d of %d  %s ...", plan.index(stage) + 1, len(plan), stage)
                outcomes[stage] = run_stage(stage, lines)
    return outcomes


def push_target(root: Path, target: str) -> bool:
    """Push, and tell whether it was done: a failure is a warning, as the results are there."""
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
    """Copy what `dvc.lock` names for `target` to DVC's default remote.

    Raises:
        ConnectionError: when DVC cannot; Prefect tries again after 2 and after 10 seconds.
    """
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "push", "--with-deps", target]
    log = get_run_logger()
    status, lines = stream(command, root, lambda line: log.info("%s", line))
    if status:
        raise ConnectionError("dvc push: " + "; ".join(lines[-3:]))
