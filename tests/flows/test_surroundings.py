"""`rolecall` on a machine with dead proxies, no home folder, or a silent tracking server."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import tiny_registry
from mlflow_import import WARNINGS

from flows.commands.error_handling import log_to_file
from flows.environment import set_environment, without_proxy

ROOT = Path(__file__).parents[2]
ROLECALL = (sys.executable, "-m", "flows.cli")
DEAD = "http://127.0.0.1:9"
TITLES = b"id,title\n1,nurse\n2,bread maker\n"
LOGIN = base64.b64encode(b"me:hunter2").decode()


@pytest.fixture
def protected() -> Iterator[str]:
    """The address of a file, with the password and the query that open it."""

    class Protected(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            opened = self.headers["Authorization"] == f"Basic {LOGIN}"
            self.send_response(200 if opened and self.path == "/titles.csv?sig=hunter2" else 403)
            self.send_header("Content-Length", str(len(TITLES)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(TITLES)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Protected) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://me:hunter2@127.0.0.1:{server.server_port}/titles.csv?sig=hunter2"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings(*(mark.args[0] for mark in WARNINGS))
def test_no_home_dead_proxies_and_a_password_in_the_input(
    toy: Path, tmp_path: Path, own_server: dict[str, str], protected: str
) -> None:
    """The command works, and nothing that it prints or leaves holds the password."""
    root = tiny_registry.registered(tmp_path / "d'été 100%", 1)
    (root / "dvc.yaml").touch()
    if (tables := toy / ".prefect").is_dir():
        shutil.copytree(tables, root / ".prefect")
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD)
    environment = (
        own_server | proxies | {"ALL_PROXY": "socks5://127.0.0.1:9", "HOME": "/dev/null/x"}
    )
    environment |= {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    del environment["PREFECT_HOME"]
    command = [
        *ROLECALL,
        "normalize",
        protected,
        "out",
        "--model=models:/rolecall/1",
        "--threads=1",
    ]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nrows    2, parts: 1\n" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
    left = [file for file in root.rglob("*") if file.is_file()]
    assert [file for file in left if b"hunter2" in file.read_bytes()] == []
    assert list((root / ".prefect/temporary").glob("*/")) == []


@pytest.mark.slow
def test_a_silent_tracking_server_is_named_before_anything_starts(
    toy: Path, own_server: dict[str, str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        address = {"MLFLOW_TRACKING_URI": f"http://me:hunter2@127.0.0.1:{port}"}
        for command in ("retrain", "models"):
            done = subprocess.run(
                [*ROLECALL, command],
                cwd=toy,
                env=own_server | address,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 1
            expected = f"error: the tracking server http://***@127.0.0.1:{port} cannot be used ("
            assert done.stderr.startswith(f"\n{expected}"), done.stderr
            assert len(done.stderr.splitlines()) == 2
    assert not (toy / "dvc.lock").exists() and not (toy / "logs").exists()


def test_this_machine_needs_no_proxy() -> None:
    assert without_proxy({})["NO_PROXY"] == "127.0.0.1,localhost"
    both = {"NO_PROXY": "a", "no_proxy": ".corp,127.0.0.1"}
    assert without_proxy(both) == dict.fromkeys(both, ".corp,127.0.0.1,localhost")
    assert without_proxy({"no_proxy": "*"})["NO_PROXY"] == "*"


def test_what_the_user_has_set_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"HOME": "/dev/null/x", "PREFECT_HOME": "/mine"})
    set_environment(tmp_path)
    assert os.environ["PREFECT_HOME"] == "/mine"
    assert os.environ["DVC_SITE_CACHE_DIR"] == f"{tmp_path}/.dvc/tmp/site"
    assert os.environ["MPLCONFIGDIR"].startswith(str(tmp_path))


def test_no_log_holds_a_password(tmp_path: Path) -> None:
    import logging

    log = tmp_path / "x.log"
    with log_to_file(log):
        try:
            raise OSError("no answer from https://me:hunter2@host/?sig=hunter2")
        except OSError:
            logging.getLogger("any").exception("at %s", "s3://key:hunter2@bucket")
    text = log.read_text()
    assert "s3://***@bucket" in text and "https://***@host/?***" in text
    assert "hunter2" not in text
