# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands that train and schedule, and `init`, which writes a profile for own data."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from flows.commands.project_root import (
    Profile,
    fresh_root,
    print_facts,
    profile_root,
    project_root,
    running_flow,
)
from flows.environment import PASSWORD, schedule_settings
from flows.errors import Failure, error_handling
from flows.profiles import DEFAULT, SAMPLE
from flows.workspace import require_repository
from tasks.io.tracking import main_tree

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
            from flows.server import server

            with server():
                from flows.retrain import serve_on_schedule

                serve_on_schedule(project_root(), profile)
        return
    with fresh_root(profile) as root, running_flow(root, "retrain"):
        from flows.retrain import as_text
        from flows.retrain import retrain as flow

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
    with fresh_root(profile) as root, running_flow(root, "reproduce"):
        from flows.reproduce import as_text
        from flows.reproduce import reproduce as flow

        print("\n" + as_text(flow()), flush=True)


def status(profile: Profile = DEFAULT) -> None:
    """List the stages that a run would start, and why.

    Runs and changes nothing.

    \b
    Examples:
      rolecall status
      rolecall status --profile mine
    """
    with error_handling():
        from flows.dvc_plan import TARGET, keep_out_special_files, reasons
        from flows.feedback import feedback_folder, is_copied

        root = profile_root(profile)
        os.chdir(root)  # DVC names files relative to the current directory
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
        behind = list(stages)[list(stages).index(next(iter(due))) :] if due else []
        if behind := [stage for stage in behind if stage not in due]:
            print(f"  behind them, if their files change: {', '.join(behind)}")


def init(
    name: Annotated[str, typer.Argument(help="Of the profile: letters, digits, - and _.")],
    taxonomy: Annotated[
        list[Path], typer.Option(help="Your titles with occupations: one file, or repeated.")
    ],
    inputs: Annotated[
        list[Path] | None, typer.Option(help="Titles as people wrote them; may be repeated.")
    ] = None,
    synonyms: Annotated[
        list[Path] | None, typer.Option(help="Words that mean the same; may be repeated.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="ROLE=COLUMN corrects an inferred column. Repeat it for other roles, and for "
            "titles in several columns: title=English, title=German."
        ),
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Between fields; default: detected.")] = "",
    encoding: Annotated[str, typer.Option(help="Of the files; default: detected.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the profile.")] = False,
) -> None:
    """Inspect your own files, and write a profile for them.

    Infers columns and formats, prints each with two examples, and writes them to
    profiles/NAME.yaml, where you can change them. Its last lines say how to correct an inference.

    \b
    Examples:
      rolecall init mine --taxonomy titles.csv --inputs raw.csv
      rolecall init mine --taxonomy titles.csv --column title=Berufstitel --force
      rolecall init mine --taxonomy titles.csv --inputs 2025.csv --inputs 2026.csv
    """
    files = {"taxonomy": taxonomy, "inputs": inputs or [], "synonyms": synonyms or []}
    with error_handling():
        from tasks.apps.profile_wizard.propose import write_profile

        if name == SAMPLE:
            raise Failure(f"{SAMPLE} is the name of the embedded example: choose another")
        named = {role: [path.absolute() for path in paths] for role, paths in files.items()}
        form = {"delimiter": delimiter, "encoding": encoding}
        write_profile(project_root(), name, named, column or [], force=force, **form)
        words = [name]
        for role, paths in files.items():
            words += [word for path in paths for word in (f"--{role}", str(path))]
        words += [f"--{option}={value}" for option, value in form.items() if value]
        words += [f"--column={choice}" for choice in column or []]
        again = f"rolecall init {shlex.join(words)} --force --column ROLE=COLUMN"
        print(f"next: rolecall retrain --profile {name}\nto correct a column: {again}")


def schedule(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of Prefect's pages.")] = 4200,
) -> None:
    """Run the schedules of prefect.yaml, with Prefect's pages.

    Starts a server, a worker and the deployments, and stays. Ctrl-C ends all of them. Only this
    machine reaches the server, which asks for the password in .prefect/password. The history of
    runs stays in .prefect/schedule.

    \b
    Examples:
      rolecall schedule
      rolecall schedule --port 4300
    """
    with error_handling():
        root = project_root()
        os.chdir(root)
        os.environ.update(schedule_settings(main_tree(root), port))
        from flows.schedule import LOGS, next_runs, scheduling, watch

        with scheduling(root, port) as processes:
            facts = {
                "pages": f"http://127.0.0.1:{port}, which ask for the password",
                "password": f"the line in {main_tree(root) / PASSWORD}",
                "logs": ", ".join(str(root / log) for log in LOGS.values()),
                **next_runs(),
                "to end": "Ctrl-C",
            }
            print_facts(facts, width=max(map(len, facts)) + 2)
            watch(processes)


def notify(
    block: Annotated[str, typer.Argument(help="TYPE/NAME, as `prefect block ls` shows it.")],
) -> None:
    """Let your notification block report every failed run.

    Makes or changes an automation on the server that PREFECT_API_URL names. You make the block on
    Prefect's page Blocks: for Slack, e-mail, a webhook and others.

    \b
    Examples:
      rolecall notify slack-webhook/team
    """
    with error_handling():
        from flows.runs import notify_by

        print(notify_by(block))
