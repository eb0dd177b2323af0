"""`rolecall schedule`: who may use its server, what it prints, and how it ends."""

from __future__ import annotations

import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from background import free_port
from test_cli import ROLECALL, ROOT, _below, until

from flows.failure import Failure
from flows.processes.login import kept_password
from flows.scheduling.children import scheduling

FOREIGN = {"Origin": "http://evil.example"}
ATTACK = {"name": "attack", "job_variables": {"command": "touch attacked"}}


class Scheduled(NamedTuple):
    """A clone in which the command runs."""

    root: Path
    process: subprocess.Popen[str]
    client: httpx.Client
    output: Path


@pytest.fixture
def scheduled(toy: Path, own_server: dict[str, str]) -> Iterator[Scheduled]:
    shutil.copytree(ROOT / "flows", toy / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "prefect.yaml", toy)
    port, output = free_port(), toy.parent / "output.txt"
    with output.open("w") as file, httpx.Client(trust_env=False) as client:
        client.base_url = f"http://127.0.0.1:{port}/api"
        command = [*ROLECALL, "schedule", f"--port={port}"]
        process = subprocess.Popen(
            command, cwd=toy, env=own_server, stdout=file, stderr=file, text=True
        )
        try:
            until(lambda: "Ctrl-C" in output.read_text() or process.poll() is not None)
            yield Scheduled(toy, process, client, output)
        finally:
            process.kill()
            process.wait()
            until(lambda: not _below(toy))


@pytest.mark.slow
def test_only_the_password_opens_the_server_and_all_ends_with_the_command(
    scheduled: Scheduled, own_server: dict[str, str]
) -> None:
    """A page of another origin made a deployment whose command the worker ran: it is refused."""
    root, process, client, output = scheduled
    printed = output.read_text()
    assert "\nretrain/monthly " in printed and " 03:00 UTC\n" in printed, printed
    password = root / ".prefect/password"
    assert str(password) in printed
    secret = password.read_text().strip()
    assert secret not in printed
    assert stat.S_IMODE(password.stat().st_mode) == 0o600

    answer = client.post("/deployments/", json=ATTACK, headers=FOREIGN)
    assert answer.status_code == 401
    assert "access-control-allow-origin" not in answer.headers
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-any"}
    answer = client.options("/deployments/", headers=FOREIGN | asked)
    assert answer.status_code == 400
    assert "access-control-allow-origin" not in answer.headers
    text = {"Content-Type": "text/plain", "Host": "evil.example"} | FOREIGN
    assert client.post("/deployments/filter", content="{}", headers=text).status_code == 401
    user, _, word = secret.partition(":")
    answer = client.post("/deployments/filter", json={}, auth=(user, word))
    assert {one["name"] for one in answer.json()} == {"monthly", "daily", "hourly"}

    second = subprocess.run(
        [*ROLECALL, "schedule"], cwd=root, env=own_server, capture_output=True, text=True
    )
    assert second.returncode == 1
    assert f"`rolecall schedule` runs already, as process {process.pid}: " in second.stderr

    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert _below(root) == []
    assert kept_password(password) == secret
    assert not (root / "attacked").exists()


@pytest.mark.thorough
def test_a_taken_port_is_named_with_its_process(tmp_path: Path) -> None:
    """The listener is another process, of which this one may ask the name."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        code = f"import socket, time; s = socket.socket(fileno={listener.fileno()}); s.listen()"
        waiting = [sys.executable, "-c", f"{code}; print('up', flush=True); time.sleep(60)"]
        with subprocess.Popen(
            waiting, pass_fds=[listener.fileno()], stdout=subprocess.PIPE
        ) as other:
            assert other.stdout and other.stdout.readline() == b"up\n"
            listener.close()
            expected = rf"127.0.0.1:{port} cannot be used: .* by process {other.pid} \(python"
            with pytest.raises(Failure, match=expected), scheduling(tmp_path, port, print):
                pass
            other.kill()
