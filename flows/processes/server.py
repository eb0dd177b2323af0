"""Prefect's server for the time of a command, where PREFECT_API_URL names none.

Prefect would start one itself, but leave it behind when the command is killed. Here it runs below
`flows/processes/guard.py`, which ends it with this process, however that ends.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import prefect
from prefect.context import refresh_global_settings_context
from prefect.logging.handlers import APILogHandler
from prefect.settings import PREFECT_API_URL, get_current_settings

from flows.failure import Failure
from flows.processes.streaming import guarded
from flows.quiet import stage_environment

HOST = "127.0.0.1"
API_URL = "PREFECT_API_URL"
SECONDS_TO_START = 120.0


@contextmanager
def server() -> Iterator[None]:
    """Let flows of the block use the server that is set, or one that ends with the block.

    Raises:
        Failure: it does not answer.
    """
    if PREFECT_API_URL.value():
        yield
        return
    port = _free_port()
    address = f"http://{HOST}:{port}/api"
    with guarded(_command(port), Path.cwd(), _environment(), stdout=subprocess.DEVNULL) as process:
        _wait(address, process)
        with _named(address):
            try:
                yield
            finally:
                APILogHandler().flush()


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Set the variable for all threads: Prefect's own would start a second server without it."""
    os.environ[API_URL] = address
    refresh_global_settings_context()
    try:
        yield
    finally:
        del os.environ[API_URL]
        refresh_global_settings_context()


def _command(port: int) -> list[str]:
    app = ["--app-dir", str(Path(prefect.__file__).parent), "--factory"]
    where = ["--host", HOST, "--port", str(port)]
    factory = "prefect.server.api.server:create_app"
    return [sys.executable, "-m", "uvicorn", *app, factory, *where, "--log-level", "critical"]


def _environment() -> dict[str, str]:
    """Return that of Prefect's own temporary server: without its pages, with our settings."""
    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    quiet = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1"}
    return {**stage_environment(), **settings, **quiet, "PREFECT__SERVER_FINAL": "1"}


def _wait(address: str, process: subprocess.Popen[str]) -> None:
    """Return when the server answers."""
    limit = time.monotonic() + SECONDS_TO_START
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < limit and process.poll() is None:
            try:
                if client.get(f"{address}/health").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
    raise Failure(
        f"Prefect's temporary server did not answer at {address}; start one yourself with `prefect "
        f"server start`, and set PREFECT_API_URL to its address"
    )


def _free_port() -> int:
    with closing(socket.socket()) as held:
        held.bind((HOST, 0))
        port: int = held.getsockname()[1]
        return port
