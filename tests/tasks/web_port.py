"""`mlflow models serve` in a process of its own, and requests to it."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DROPPED = ("PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Server:
    """A running server, its port and the file of what it says."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def post(self, data: bytes, content_type: str = "application/json") -> tuple[int, bytes]:
        """Return status and body of the answer."""
        address = f"http://127.0.0.1:{self.port}/invocations"
        request = urllib.request.Request(address, data, {"Content-Type": content_type})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def alive(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ping", timeout=5).close()
        except (urllib.error.URLError, OSError):
            return False
        return self.process.poll() is None


@contextmanager
def serving(model: str, registry: str, folder: Path) -> Iterator[Server]:
    """Serve a model of a registry for the time of the block; `folder` takes its log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", model]
    command += ["--env-manager", "local", "--port", str(port)]
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(registry) | {"PATH": own},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        server = Server(process, port, folder / "log")
        try:
            _wait_for(server)
            yield server
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)


def environment(registry: str) -> dict[str, str]:
    """Return the variables of a consumer's process, which knows nothing of this repository."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return kept | {
        "MLFLOW_TRACKING_URI": registry,
        "MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    }


def _wait_for(server: Server) -> None:
    for _ in range(240):
        assert server.process.poll() is None, server.log.read_text(encoding="utf-8")
        if server.alive():
            return
        time.sleep(0.5)
    raise AssertionError(server.log.read_text(encoding="utf-8"))
