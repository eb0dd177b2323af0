# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands that train: `retrain`, `reproduce`, and `status`, which says what a run would do."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from flows.commands.error_handling import error_handling
from flows.commands.options import Profile
from flows.commands.project_root import (
    change_to_root,
    check_registry,
    existing_root,
    project_root,
    run_flow,
)
from flows.workspaces.profiles import DEFAULT, SAMPLE

MAX_REASONS = 3  # of a stage


def retrain(
    profile: Profile = DEFAULT,
    serve: Annotated[bool, typer.Option(help="Stay, and run on the schedule.")] = False,
) -> None:
    """Train on the data that changed, and register the model.

    The gate then decides whether it becomes champion.

    Skips stages that are up to date. If there is nothing to do, it says so and ends. After an
    interruption the same command continues.

    \b
    Examples:
      rolecall retrain                    ESCO in 21 languages
      rolecall retrain --profile sample   a small example, in minutes
      rolecall retrain --profile mine     your own data: see `rolecall init`
    """
    if serve:
        with error_handling():
            from flows.processes.server import server

            with server():
                from flows.retrain import serve_on_schedule

                serve_on_schedule(project_root(), profile)
        return
    with change_to_root(profile) as root:
        from flows.stages.up_to_date import print_if_up_to_date
        from flows.workspaces.git_worktree import require_repository

        require_repository(root)
        check_registry(root)
        if print_if_up_to_date(root):
            return
        with run_flow(root, "retrain"):
            from flows.retrain import retrain as flow
            from flows.summary import as_text

            print("\n" + as_text(flow()), flush=True)


def reproduce(
    profile: Annotated[
        str, typer.Option(help="As of `retrain`, but without $ROLECALL_PROFILE.")
    ] = SAMPLE,
) -> None:
    """Make Table 3, a network for each source of training data.

    The table is that of Neculoiu and others, 2016. By default it is made on the embedded sample,
    because six networks on ESCO take hours.

    \b
    Examples:
      rolecall reproduce                       with the default network
      rolecall reproduce --profile paper       with the network of that paper
      rolecall reproduce --profile similarity  the sentence pairs of the other three papers
    """
    with change_to_root(profile) as root:
        from flows.reproduce import as_text, current_result
        from flows.reproduce import reproduce as flow
        from flows.workspaces.git_worktree import require_repository

        require_repository(root)
        outcome = current_result(root)
        if outcome is None:
            with run_flow(root, "reproduce"):
                outcome = flow()
        print("\n" + as_text(outcome), flush=True)


def status(profile: Profile = DEFAULT) -> None:
    """List the stages that a run would start, and why.

    Runs and changes nothing.

    \b
    Examples:
      rolecall status
      rolecall status --profile mine
    """
    with error_handling():
        root = existing_root(profile)
        os.chdir(root)  # DVC names files relative to the current directory
        from flows.stages.dvc_plan import reasons
        from flows.stages.special_files import keep_out_special_files
        from flows.stages.up_to_date import TARGET
        from flows.workspaces.feedback_folder import feedback_folder, is_copied
        from flows.workspaces.git_worktree import require_repository

        require_repository(root)
        for warning in keep_out_special_files(root):
            print(warning)
        stages = reasons(root, TARGET)
    due = {stage: changes for stage, changes in stages.items() if changes}
    print(f"{root}: {len(stages) - len(due)} of {len(stages)} stages are up to date")
    for stage, changes in due.items():
        rest = len(changes) - MAX_REASONS
        more = f", and {rest} more" if rest > 0 else ""
        print(f"  {stage:<22}{', '.join(changes[:MAX_REASONS])}{more}")
    if not is_copied(root):
        print(f"  {'feedback':<22}{feedback_folder(root)} has changed; the next run reads it")
    elif not due:
        print("nothing to train; `rolecall models` lists the registered versions")
    if not due:
        return
    first = list(stages).index(next(iter(due)))
    if behind := [stage for stage in list(stages)[first:] if stage not in due]:
        print(f"  behind them, if their files change: {', '.join(behind)}")
