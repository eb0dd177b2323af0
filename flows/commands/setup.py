# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands that set the project up: `init` for own data, `notify` for messages."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from flows.commands.error_handling import error_handling
from flows.commands.project_root import project_root
from flows.failure import Failure
from flows.workspaces.profiles import SAMPLE


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
    named = [(f"--{role}", file) for role, paths in files.items() for file in paths]
    form = {"--delimiter": delimiter, "--encoding": encoding}
    options = [f"{option}={value}" for option, value in form.items() if value]
    options += [f"--column={choice}" for choice in column or []]
    with error_handling():
        from flows.processes.command import run_command

        if name == SAMPLE:
            raise Failure(f"{SAMPLE} is the name of the embedded example: choose another")
        absolute = [f"{option}={file.absolute()}" for option, file in named]
        arguments = [name, *absolute, *options, *(["--force"] if force else [])]
        wizard = "tasks.apps.profile_wizard"
        lines = run_command(wizard, arguments, project_root(), name=f"init {name}")
        words = [name, *(word for option, file in named for word in (option, str(file))), *options]
        print("\n".join(lines))
        print(f"next: rolecall retrain --profile {name}")
        print(
            f"to correct a column: rolecall init {shlex.join(words)} --force --column ROLE=COLUMN"
        )


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
