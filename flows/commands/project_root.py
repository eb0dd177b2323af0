"""Finds the folder of a command, the clone or a workspace in it, and runs flows there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from flows.commands.error_handling import error_handling, log_to_file
from flows.failure import Failure
from flows.workspaces.feedback_folder import profile_of
from flows.workspaces.profiles import DEFAULT, ProfileError, read_profile
from tasks.io.reachable import check_answer
from tasks.io.tracking import tracking_uri

MARKS = ("dvc.yaml", "params.yaml")


def enclosing_root() -> Path | None:
    """Return the nearest folder at or above the current one that holds a pipeline, if any.

    In a workspace it is the clone.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if all((folder / mark).is_file() for mark in MARKS):
            return folder.parents[1] if profile_of(folder) else folder
    return None


def project_root() -> Path:
    """Return `enclosing_root`.

    Raises:
        Failure: there is none.
    """
    root = enclosing_root()
    if root:
        return root
    raise Failure(
        f"no {' and '.join(MARKS)} in {Path.cwd()} or above: change to a clone of rolecall"
    )


def existing_root(profile: str) -> Path:
    """Return the clone, or the profile's workspace as its last run left it.

    Raises:
        Failure: there is no such profile, or it has no workspace yet.
    """
    from flows.workspaces.workspace import workspace_of

    root = workspace_of(project_root(), profile)
    if not root.is_dir():
        _require_profile(profile)
        command = f"`rolecall retrain --profile {profile}` trains its model"
        if profile == DEFAULT:
            command += " in a quarter of an hour; `--profile sample` is for trying out"
        raise Failure(f"profile {profile} has not run here yet: {command}")
    return root


def _require_profile(profile: str) -> None:
    if profile != DEFAULT:
        try:
            read_profile(project_root() / "profiles", profile)
        except ProfileError as error:  # it says which there are
            raise Failure(str(error)) from None


@contextmanager
def change_to_root(profile: str) -> Iterator[Path]:
    """Change to the clone, or to the profile's workspace, which is made or refreshed."""
    from flows.workspaces.workspace import prepare

    with error_handling():
        root = prepare(project_root(), profile)
        os.chdir(root)
        yield root


def absolute_model(model: str) -> str:
    """Return a model's address, or its absolute path if it is a folder."""
    return str(Path(model).absolute()) if model and Path(model).exists() else model


def check_registry(root: Path) -> None:
    """Refuse to begin if the registry's server does not answer.

    Raises:
        Failure: naming the server and what to do.
    """
    try:
        check_answer(tracking_uri(root))
    except ValueError as error:
        raise Failure(str(error)) from None


@contextmanager
def run_flow(root: Path, command: str) -> Iterator[None]:
    """Check the parameters, then let the block run flows and keep their lines in a file."""
    from flows.processes.command import check_params
    from flows.stages.special_files import keep_out_special_files

    check_registry(root)
    check_params(root, partial(print, flush=True))
    keep_out_special_files(root)
    log = root / "logs" / f"{command}.log"
    with error_handling(log), log_to_file(log):
        from flows.processes.server import server

        with server():
            yield


def print_facts(facts: dict[str, str]) -> None:
    """Print the outcome of a flow."""
    from flows.results import as_facts

    print("\n" + as_facts(facts), flush=True)
