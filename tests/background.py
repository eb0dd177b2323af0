"""Commands of ours in processes of their own, ports for them, and what is left of them."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ROLECALL = (sys.executable, "-m", "flows.cli")


def ran(
    folder: Path, *command: str, environment: Mapping[str, str] | None = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; `environment`: None is this process's."""
    kept = dict(os.environ if environment is None else environment) | changes
    pipes: Any = {"capture_output": True, "text": True, "timeout": 600}
    return subprocess.run(command, cwd=folder, env=kept, **pipes)


def rolecall(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Type a command in a folder, as `ran`."""
    return ran(folder, *ROLECALL, *words, **{"PYTHONPATH": str(ROOT), **options})


def git(folder: Path, *words: str) -> str:
    """Run git as somebody who may commit, without hooks; return what it prints."""
    own = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=/dev/null")
    done = ran(folder, "git", *own, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def web_server(*answers: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[int]:
    """Answer requests by functions of their methods' names; the value is the port."""
    methods = {answer.__name__: answer for answer in answers}
    handler = type("Handler", (BaseHTTPRequestHandler,), methods | {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def until(is_so: Callable[[], object], seconds: float = 120) -> None:
    """Wait until something is so; fail when it does not come."""
    limit = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.05)


def visited(printed: str) -> list[str]:
    """List the stages that `dvc repro` says it visits, in order."""
    return re.findall(r"^(?:Running stage |Stage )?'([^']+)'", printed, re.MULTILINE)


def running_in(folder: Path) -> list[str]:
    """List the commands of processes that work in a folder; a zombie has none."""
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inside = (process / "cwd").readlink().is_relative_to(folder)
            command = (process / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        if inside and command:
            commands.append(command)
    return commands


def is_gone(pid: int) -> bool:
    """Tell whether no process has this number; a zombie has none of its files open."""
    try:
        return "zombie" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path
) -> Iterator[None]:
    """Run a command in a process group that is gone afterwards; its output goes to `log`."""
    with log.open("w") as out:
        pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT}
        own: Any = {"cwd": folder, "env": environment, "start_new_session": True}
        process = subprocess.Popen(command, **pipes, **own)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(8)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
