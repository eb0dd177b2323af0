"""The flow `retrain`: DVC's stages of `report`, then register, gate, push, and a page in Prefect.

`python -m flows.retrain [--profile NAME] [--serve]` needs no server to be started first: Prefect
brings up its own for the time of the run, unless PREFECT_API_URL names one. The flow takes no
parameters, or its `dvc.lock` would differ from that of a bare `dvc repro report`; it works in the
current directory. Registration and promotion follow the graph, from files, because a stage that
DVC restores from its run cache executes no code. The command starts no flow where nothing is to
do (`flows/nothing_to_do.py`).
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # Prefect reads its settings when it is imported
    from flows.quiet import QUIET

    os.environ.update({**QUIET, **os.environ})
    if len(sys.argv) == 1:
        from flows.nothing_to_do import say_so

        if say_so("report"):
            sys.exit(0)

import argparse
from collections.abc import Callable
from pathlib import Path

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows.command import PROFILE, exit_status
from flows.registry import Decision, Registered, Registry, project_registry
from flows.summary import Summary, as_markdown, as_text
from flows.target import push_target, run_stages

TARGET = "report"
MODULE = "flows.retrain"


@flow(name="retrain")
def retrain() -> Summary:
    """Retrain in the current directory, register the result and promote it if the gate says so."""
    return retrain_in(Path.cwd(), project_registry())


def retrain_in(root: Path, registry: Registry) -> Summary:
    """Take the steps of the flow in `root`; called within a flow run.

    Raises:
        StageFailed: with the stage's last lines. Whatever registering or promoting raises goes
            through; a push that fails is a warning, since the model is registered already.
    """
    stages = run_stages(root, TARGET)
    registered = register(root, registry.register)
    decision = promote(root, registered.version, registry.promote)
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status (`flows/command.py`)."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=retrain.__doc__)
    parser.add_argument("--profile", help=PROFILE)
    parser.add_argument("--serve", action="store_true", help="stay and run on the weekly schedule")
    options = parser.parse_args(arguments)
    from flows.schedule import serve

    def here() -> None:
        if options.serve:
            serve(retrain, Path.cwd())
        else:
            print("\n" + as_text(retrain()), flush=True)

    return exit_status(here, MODULE, options.profile, ["--serve"] if options.serve else [])


if __name__ == "__main__":
    sys.exit(main())
