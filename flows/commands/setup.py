# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands that set the project up: `init` for own data, `notify` for messages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.error_handling import error_handling
from flows.commands.project_root import project_root


def init(
    name: Annotated[str, typer.Argument(help="Of the profile: letters, digits, - and _.")],
    taxonomy: Annotated[Path, typer.Option(help="Your titles, one per row, with occupations.")],
    inputs: Annotated[Path | None, typer.Option(help="Titles as people wrote them.")] = None,
    synonyms: Annotated[Path | None, typer.Option(help="Words that mean the same.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Corrects the inferred role of a column, as in title=Berufstitel."),
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Between fields; default: detected.")] = "",
    encoding: Annotated[str, typer.Option(help="Of the files; default: detected.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the profile.")] = False,
) -> None:
    """Inspect your own files, and write a profile for them.

    Infers columns and formats, prints them, and writes them to profiles/NAME.yaml, where you can
    change them.

    \b
    Examples:
      rolecall init mine --taxonomy titles.csv --inputs raw.csv
      rolecall init mine --taxonomy titles.csv --column title=Berufstitel --force
    """
    files = {"taxonomy": taxonomy, "inputs": inputs, "synonyms": synonyms}
    options = [f"--delimiter={delimiter}", f"--encoding={encoding}"]
    options += [f"--{role}={file.absolute()}" for role, file in files.items() if file]
    options += [f"--column={choice}" for choice in column or []]
    options += ["--force"] if force else []
    with error_handling():
        from flows.processes.command import run_command

        wizard = "tasks.apps.profile_wizard"
        lines = run_command(wizard, [name, *options], project_root(), name=f"init {name}")
        print("\n".join([*lines, f"next: rolecall retrain --profile {name}"]))


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
        from flows.notification import notify_by

        print(notify_by(block))
