"""Prefect's server as a child process, for the time of a command.

`retrain` and `reproduce` use the server that PREFECT_API_URL names, or this one: only this machine
reaches it, with a password that is drawn for it, and it has a database of its own. Prefect would
leave a server of its own behind when the command is killed; `flows/guard.py` ends this one.
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import prefect
from prefect.context import refresh_global_settings_context
from prefect.logging.handlers import APILogHandler
from prefect.settings import PREFECT_API_URL, get_current_settings

from flows.environment import (
    HOST,
    client_settings,
    new_password,
    server_settings,
    stage_environment,
)
from flows.errors import Failure
from flows.processes import guarded
from tasks.io.tracking import main_tree
from tasks.release.registry.locks import own_folder

FOLDER = Path(".prefect/temporary")  # in the main tree, not in git
SECONDS_TO_START = 120.0
TEMPORARY = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1"}
MADE_BEFORE = dict.fromkeys(  # leave out what a copy of an empty database has already
    ("PREFECT_SERVER_DATABASE_MIGRATE_ON_START", "PREFECT_API_BLOCKS_REGISTER_ON_START"), "false"
)


@contextmanager
def server() -> Iterator[None]:
    """Let the flows of the block use the named server, or one that ends with the block.

    Prefect takes ten seconds to make its tables; the first run keeps a copy for later ones.
    """
    if PREFECT_API_URL.value():
        yield
        return
    port, password = free_port(), new_password()
    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    folder = main_tree(Path.cwd()) / FOLDER
    for made in (folder.parent, folder):
        made.mkdir(mode=0o700, exist_ok=True)
    template = folder / f"empty-{prefect.__version__}.db"
    with own_folder(folder) as own:
        database = own / "prefect.db"
        settings |= TEMPORARY | server_settings(own, port, password)
        if template.is_file():
            shutil.copyfile(template, database)
            settings |= MADE_BEFORE
        with serving(port, settings, subprocess.DEVNULL, seconds_to_end=0):
            if not template.is_file():
                _copy_database(database, template)
            with _client_of(client_settings(port, password)):
                yield


def _copy_database(database: Path, copy: Path) -> None:
    """Copy a database that a server uses; the copy appears whole."""
    partial = database.with_name("template.db")
    with closing(sqlite3.connect(database)) as whole, closing(sqlite3.connect(partial)) as other:
        whole.backup(other)
    partial.replace(copy)


@contextmanager
def serving(
    port: int, settings: Mapping[str, str], output: int, seconds_to_end: float | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run Prefect's server with these settings for the time of the block; Failure without answer.

    `seconds_to_end` lie between interrupting and killing it, which loses unsaved runs.
    """
    app = ["prefect.server.api.server:create_app", "--factory"]
    app += ["--app-dir", str(Path(prefect.__file__).parent)]
    address = ["--host", HOST, "--port", str(port), "--log-level", "critical"]
    environment = {**stage_environment(), **settings, "PREFECT__SERVER_FINAL": "1"}
    command = [sys.executable, "-m", "uvicorn", *app, *address]
    with guarded(command, Path.cwd(), environment, output, seconds_to_end) as process:
        _wait(settings["PREFECT_API_URL"], process)
        yield process


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with closing(socket.socket()) as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


@contextmanager
def _client_of(settings: Mapping[str, str]) -> Iterator[None]:
    """Name the server for all threads, or Prefect starts a second one; earlier values come back."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    refresh_global_settings_context()
    try:
        yield
    finally:
        APILogHandler().flush()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        refresh_global_settings_context()


def _wait(address: str, process: subprocess.Popen[str]) -> None:
    limit = time.monotonic() + SECONDS_TO_START
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < limit and process.poll() is None:
            try:
                if client.get(f"{address}/health").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
    raise Failure(
        f"Prefect's server did not answer at {address}; remove the folder {FOLDER} and try again, "
        "or start a server yourself (docs/guides/scheduling.md)"
    )
