"""Server, deployments and worker of the schedules in `prefect.yaml`, for the time of a block.

They are child processes, and end with this one. The server's database stays in the main tree; the
password beside it opens the server, which only this machine reaches.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from flows.environment import HOST, client_settings, kept_password, server_settings
from flows.errors import Failure
from flows.processes import guarded, run_module, show_line
from tasks.io.tracking import main_tree

HOME, PASSWORD = Path(".prefect/schedule"), Path(".prefect/password")
LOGS = {name: Path(f"logs/schedule_{name}.log") for name in ("server", "worker")}
SECONDS_TO_END = 10.0  # for the worker to end the runs at work
Processes = Mapping[str, subprocess.Popen[str]]


@contextmanager
def scheduling(root: Path, port: int) -> Iterator[Processes]:
    """Run server and worker for the time of the block, with the deployments of `root`.

    Yields:
        the processes, named as in `LOGS`.

    Raises:
        Failure: a schedule runs already, the port is taken, or Prefect refused something.
    """
    main = main_tree(root)
    with _only_one(main / HOME), ExitStack() as ends:
        _refuse_taken(port)
        environment = _settings(main, port)
        os.environ.update(environment)  # Prefect's client reads them at its import
        from flows.server import prepare_pool, serving

        show_line("starting Prefect's server ...")
        logs = {name: ends.enter_context(_log(root / log)) for name, log in LOGS.items()}
        server = ends.enter_context(serving(port, environment, logs["server"]))
        pool = prepare_pool()
        show_line("deploying prefect.yaml ...")
        run_module("prefect", ["--no-prompt", "deploy", "--all"], root, name="prefect deploy")
        show_line("starting the worker ...")
        command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool]
        worker = guarded(command, root, stdout=logs["worker"], seconds_to_end=SECONDS_TO_END)
        yield {"server": server, "worker": ends.enter_context(worker)}


def watch(processes: Processes) -> None:
    """Wait as long as all processes run.

    Raises:
        Failure: one ended; the message names its log.
    """
    while True:
        for name, process in processes.items():
            if process.poll() is not None:
                raise Failure(f"Prefect's {name} ended: {LOGS[name]} says why")
        time.sleep(0.5)


def _settings(main: Path, port: int) -> dict[str, str]:
    """Return Prefect's settings for server, worker and the client in this process."""
    password = kept_password(main / PASSWORD)
    own = {
        "PREFECT_HOME": str(main / HOME),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{main / HOME}/prefect.db",
    }
    return own | client_settings(port, password) | server_settings(port, password)


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made, for the time of the block."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (home / "lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Failure(
                f"`rolecall schedule` runs already, as process {lock.read().strip()}: end that one "
                "first (Ctrl-C where it runs)"
            ) from None
        lock.truncate(0)
        print(os.getpid(), file=lock, flush=True)
        yield


def _refuse_taken(port: int) -> None:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            by = _listener(port)
            raise Failure(
                f"{HOST}:{port} cannot be used: {error}{by}; choose another port: "
                f"rolecall schedule --port {port + 1 if 0 < port < 65535 else 4201}"
            ) from None


def _listener(port: int) -> str:
    """Name the process that listens at a port, if this user may know."""
    import psutil

    try:
        taken = [one for one in psutil.net_connections("tcp") if one.laddr[1:] == (port,)]
        name = psutil.Process(taken[0].pid).name()
    except (psutil.Error, IndexError, TypeError):
        return ""
    return f" by process {taken[0].pid} ({name})"


@contextmanager
def _log(file: Path) -> Iterator[int]:
    """Open a log, begun anew, and yield its handle."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as log:
        yield log.fileno()
