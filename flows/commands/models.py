# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands about registered models: `models`, `rollback`, `serve`, `benchmark`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.commands.project_root import Model, Profile, project_root, registry_root
from flows.errors import error_handling
from flows.profiles import DEFAULT
from flows.workspace import champion
from tasks.io.tracking import follow_move, is_default, local_folder, masked, tracking_uri


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
        if address:
            root = project_root()  # all profiles share one registry
            uri = tracking_uri(root)
            if is_default(uri, root):
                follow_move(local_folder(root))  # for the consumers who are told the address
            print(masked(uri) if sys.stdout.isatty() else uri)  # a variable needs the password
            return
        root = registry_root(profile)
        from tasks.release.registry.versions import listing

        print(listing(root))


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
        root = registry_root(profile)
        from tasks.release.registry.versions import rollback as make_champion

        print(make_champion(root, to, reason))


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
        root = registry_root(profile, model)
        address = model or champion(root)
        from tasks.apps.web.application import serve as answer_requests

        allowed = {"allow_hosts": allow_host or [], "allow_origins": allow_origin or []}
        answer_requests(
            address, root, host=host, port=port, min_confidence=min_confidence, **allowed
        )


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
    with error_handling():
        root = project_root()
        from tasks.apps.benchmark import evaluate

        evaluate(folder, model, root, depth=depth, concepts=concepts, out=out)
