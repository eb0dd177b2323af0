# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands about registered models: `models`, `rollback`, `serve`, `benchmark`."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from flows.commands.error_handling import error_handling
from flows.commands.options import Model, Profile
from flows.commands.project_root import (
    absolute_model,
    check_registry,
    existing_root,
    project_root,
)
from flows.workspaces.profiles import DEFAULT
from tasks.io.masked import masked
from tasks.io.moved_registry import follow_move
from tasks.io.tracking import is_default, local_folder, tracking_uri

LISTING, ROLLBACK = "tasks.release.registry.listing", "tasks.release.registry.rollback"


def models(
    profile: Profile = DEFAULT,
    address: Annotated[bool, typer.Option("--address", help="Print only the address.")] = False,
) -> None:
    """List the registered versions and their decisions.

    Also prints the address of the registry and names the champion.

    \b
    Examples:
      rolecall models
      export MLFLOW_TRACKING_URI=$(rolecall models --address)
    """
    with error_handling():
        from flows.processes.command import run_command

        root = project_root() if address else existing_root(profile)  # all share one
        if address:
            uri = tracking_uri(root)
            if is_default(uri, root):
                follow_move(local_folder(root))  # for the consumers who are told the address
            print(masked(uri) if sys.stdout.isatty() else uri)  # a variable needs the password
            return
        check_registry(root)
        print("\n".join(run_command(LISTING, [], root, name=LISTING)))


def rollback(
    profile: Profile = DEFAULT,
    to: Annotated[str | None, typer.Option(help="Version; default: the last champion.")] = None,
    reason: Annotated[str, typer.Option(help="Kept with both versions.")] = "",
) -> None:
    """Make the champion before the last one champion again.

    Consumers that load models:/NAME@champion get it at their next load. Both versions keep the time
    and the reason. A version that was rolled back returns only if it is named.

    \b
    Examples:
      rolecall rollback --reason "nurses were answered as cooks"
      rolecall rollback --to 3
    """
    with error_handling():
        from flows.processes.command import run_command

        options = [f"--reason={reason}", *([f"--to={to}"] if to else [])]
        root = existing_root(profile)
        check_registry(root)
        run_command(ROLLBACK, options, root, print, name=ROLLBACK)


def serve(
    profile: Profile = DEFAULT,
    model: Model = "",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any free port.")] = 8000,
    min_confidence: Annotated[
        float, typer.Option(help="The best candidate is a match from this confidence on.")
    ] = 0.5,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name of this machine, as in its address.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="Origin of another page that may read all answers: https://…"),
    ] = None,
) -> None:
    """Serve the registered model to people and programs.

    The address shows a page that answers titles while you type. POST /normalize answers titles in
    JSON; /docs describes it. OpenRefine takes the same address under "Reconcile", "Add standard
    service" (version 0.2 of the Reconciliation Service API). Runs until it is interrupted.

    \b
    Examples:
      rolecall serve
      rolecall serve --model models:/rolecall/3 --port 8001 --min-confidence 0.7
    """
    with error_handling():
        from flows.champion import champion

        root = project_root() if model else existing_root(profile)
        os.chdir(root)
        check_registry(root)
        options = [f"--model={model or champion(root)}", f"--host={host}", f"--port={port}"]
        options += [f"--min-confidence={min_confidence}"]
        options += [f"--allow-host={name}" for name in allow_host or []]
        options += [f"--allow-origin={origin}" for origin in allow_origin or []]
        os.execv(sys.executable, [sys.executable, "-m", "tasks.apps.web", *options])


def benchmark(
    folder: Annotated[Path, typer.Argument(help="With queries, corpus_elements, annotations.")],
    model: Annotated[str, typer.Option(help="Address in the registry, or folder of a model.")],
    depth: Annotated[int, typer.Option(min=10, help="Ranks that count, and are written.")] = 1000,
    concepts: Annotated[
        bool, typer.Option(help="Rank the elements of a concept as one, if there is a map.")
    ] = True,
    out: Annotated[Path | None, typer.Option(help="Folder for metrics, run and qrels.")] = None,
) -> None:
    """Evaluate a model on a published benchmark, such as MELO.

    The model's network embeds queries and corpus elements; the closest come first. Prints mean
    average precision, MRR and success@k, equal to those of trec_eval and ir-measures, with 95 %
    intervals, beside two lexical baselines.

    FOLDER holds tables without a header, tabs between fields: queries.tsv and corpus_elements.tsv
    (id, title), annotations.tsv (query, 0, element, 1), and optionally concept_mapping.tsv
    (element, concept).

    \b
    Examples:
      rolecall benchmark melo/deu_q_de_c_de --model models:/rolecall@champion
      rolecall benchmark melo/deu_q_de_c_de --model models:/rolecall/1 --depth 100 --out results
    """
    arguments = [str(folder.absolute()), f"--model={absolute_model(model)}", f"--depth={depth}"]
    arguments += [] if concepts else ["--no-concepts"]
    arguments += [f"--out={out.absolute()}"] if out else []
    with error_handling():
        from flows.processes.command import run_command, until_error

        show = until_error(partial(print, flush=True))
        run_command("tasks.apps.benchmark", arguments, project_root(), show, name="benchmark")
