"""Starts Prefect's server for the time of a command if PREFECT_API_URL names none.

Prefect would leave a server of its own behind when the command is killed.
`flows/processes/guard.py` ends this one.
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

from flows.environment import stage_environment
from flows.failure import Failure
from flows.processes.streaming import guarded

HOST = "127.0.0.1"
API_URL = "PREFECT_API_URL"
SECONDS_TO_START = 120.0


@contextmanager
def server() -> Iterator[None]:
    """Let the flows of the block use the named server, or one that ends with the block.

    Raises:
        Failure: the server does not answer.
    """
    if PREFECT_API_URL.value():
        yield
        return
    with closing(socket.socket()) as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
    address = f"http://{HOST}:{port}/api"
    with guarded(_command(port), Path.cwd(), _environment(), subprocess.DEVNULL) as process:
        _wait(address, process)
        os.environ[API_URL] = address  # for all threads, or Prefect starts a second server
        refresh_global_settings_context()
        try:
            yield
        finally:
            APILogHandler().flush()
            del os.environ[API_URL]
            refresh_global_settings_context()


def _command(port: int) -> list[str]:
    app = [
        "prefect.server.api.server:create_app",
        "--app-dir",
        str(Path(prefect.__file__).parent),
        "--factory",
    ]
    address = ["--host", HOST, "--port", str(port)]
    return [sys.executable, "-m", "uvicorn", *app, *address, "--log-level", "critical"]


def _environment() -> dict[str, str]:
    """Return that of Prefect's own temporary server: without its pages, with our settings."""
    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    temporary = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1"}
    return {**stage_environment(), **settings, **temporary, "PREFECT__SERVER_FINAL": "1"}


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
        f"Prefect's temporary server did not answer at {address}; start one yourself with `prefect "
        f"server start`, and set PREFECT_API_URL to its address"
    )
