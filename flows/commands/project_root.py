"""The folder that a command works in, the flow that it runs there, and shared options."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from flows.environment import MARKS, enclosing_root
from flows.errors import Failure, error_handling, log_to_file
from flows.results import as_facts
from flows.workspace import existing_root, prepare, require_repository
from tasks.io.tracking import check_answer, tracking_uri

Profile = Annotated[
    str,
    typer.Option(
        envvar="ROLECALL_PROFILE",
        show_envvar=False,
        help="Name of a file in profiles/, or sample, the embedded example; $ROLECALL_PROFILE sets "
        "another default.",
    ),
]
Model = Annotated[str, typer.Option(help="Address in the registry; default: champion.")]
TopK = Annotated[int | None, typer.Option(help="Number of answers to a title.")]
MinConfidence = Annotated[
    float | None, typer.Option(help="The model abstains below this confidence.")
]
Language = Annotated[
    str,
    typer.Option(help="Of labels and titles in the answer, as en; default: the closest title's."),
]
CodeDepth = Annotated[
    int | None, typer.Option(help="Number of code levels to answer with; 0: all.")
]


def project_root() -> Path:
    """Return the clone that the current folder lies in; Failure if there is none."""
    if root := enclosing_root():
        return root
    marks = " and ".join(MARKS)
    raise Failure(f"no {marks} in {Path.cwd()} or above: change to a clone of rolecall")


def profile_root(profile: str, model: str = "") -> Path:
    """Return the clone, or the profile's workspace as its last run left it (`existing_root`)."""
    return existing_root(project_root(), profile, model)


def registry_root(profile: str, model: str = "") -> Path:
    """Return `profile_root` if its registry answers, or raise a ValueError."""
    root = profile_root(profile, model)
    check_answer(tracking_uri(root))
    return root


@contextmanager
def fresh_root(profile: str) -> Iterator[Path]:
    """Change to the clone, or to the profile's workspace, which is made or refreshed."""
    with error_handling():
        root = prepare(project_root(), profile)
        os.chdir(root)
        yield root


@contextmanager
def running_flow(root: Path, name: str) -> Iterator[None]:
    """Let the block run a flow on a Prefect server, with its lines in a file, if MLflow answers."""
    require_repository(root)
    check_answer(tracking_uri(root))
    log = root / "logs" / f"{name}.log"
    with log_to_file(log), error_handling(log):
        from flows.server import server

        with server():
            yield


def print_facts(facts: Mapping[str, str], width: int = 8) -> None:
    """Print the outcome of a command; the names take `width` characters or more."""
    print("\n" + as_facts(facts, width), flush=True)
