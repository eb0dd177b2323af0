# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The command `ask`: a few titles answered in the terminal, without Prefect and MLflow."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from flows.commands.error_handling import error_handling
from flows.commands.options import CodeDepth, Language, MinConfidence, Model, Profile, TopK
from flows.commands.project_root import (
    absolute_model,
    existing_root,
    project_root,
)
from flows.workspaces.profiles import DEFAULT


def ask(
    titles: Annotated[
        list[str] | None, typer.Argument(help="Default: standard input, one title a line.")
    ] = None,
    profile: Profile = DEFAULT,
    model: Model = "",
    top_k: TopK = None,
    min_confidence: MinConfidence = None,
    code_depth: CodeDepth = None,
    language: Language = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one object for each title.")
    ] = False,
) -> None:
    """Answer a few titles, and explain the answers.

    Prints the occupation, its confidence, codes and alternatives, and the words that drew the title
    to it; if the model abstains, the reason. Colours a terminal unless NO_COLOR is set. For files
    use `rolecall normalize`.

    \b
    Examples:
      rolecall ask "snr softwre enginer Berlin" "Krankenpfleger in Teilzeit"
      rolecall ask --json < titles.txt
    """
    with error_handling():
        from flows.champion import champion

        model = absolute_model(model)
        params = {"top-k": top_k, "min-confidence": min_confidence, "code-depth": code_depth}
        options = [f"--{name}={value}" for name, value in params.items() if value is not None]
        options += [f"--language={language}"] if language else []
        options += [
            f"--model={model or champion(existing_root(profile))}",
            *(["--json"] if as_json else []),
        ]
        os.chdir(project_root())
        module = [sys.executable, "-m", "tasks.apps.ask", *options]
        os.execv(sys.executable, [*module, "--", *(titles or [])])
