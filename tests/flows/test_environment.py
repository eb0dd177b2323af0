"""`rolecall` on a machine with dead proxies, no home folder, or a silent tracking server."""

import base64
import os
import socket
import stat
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import tiny_registry
from background import rolecall, web_server
from mlflow_import import WARNINGS

from flows.environment import kept_password, new_password, set_environment, without_proxy

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
PROXIES = dict.fromkeys(NAMES, "http://127.0.0.1:9")
PROXIES["ALL_PROXY"] = "socks5://127.0.0.1:9"
TITLES = b"id,title\n1,nurse\n2,bread maker\n"
LOGIN = base64.b64encode(b"me:hunter2").decode()


@pytest.fixture
def protected() -> Iterator[str]:
    """The address of a file, with the password and the query that open it."""

    def do_HEAD(request: BaseHTTPRequestHandler) -> None:
        opened = request.headers["Authorization"] == f"Basic {LOGIN}"
        right = opened and request.path == "/titles.csv?sig=hunter2"
        request.send_response(200 if right else 403)
        request.send_header("Content-Length", str(len(TITLES)))
        request.end_headers()

    def do_GET(request: BaseHTTPRequestHandler) -> None:
        do_HEAD(request)
        request.wfile.write(TITLES)

    with web_server(do_HEAD, do_GET) as port:
        yield f"http://me:hunter2@127.0.0.1:{port}/titles.csv?sig=hunter2"


@pytest.mark.slow
@pytest.mark.filterwarnings(*(mark.args[0] for mark in WARNINGS))
def test_no_home_dead_proxies_and_a_password_in_the_input(tmp_path: Path, protected: str) -> None:
    """The command works, and nothing that it prints or leaves holds the password."""
    root = tiny_registry.registered(tmp_path / "d'été 100%", 1)
    (root / "dvc.yaml").touch()
    changes = PROXIES | {"HOME": "/dev/null/x", "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    words = ["normalize", protected, "out", "--model=models:/rolecall/1", "--threads=1"]
    done = rolecall(root, *words, **changes)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nrows    2, parts: 1\n" in done.stdout
    absent = rolecall(root, "normalize", protected.replace("titles", "absent"), "none", **changes)
    assert absent.returncode == 1 and absent.stderr.startswith("error: ")
    assert "hunter2" not in done.stdout + done.stderr + absent.stdout + absent.stderr
    left = [file for file in root.rglob("*") if file.is_file()]
    assert [file for file in left if b"hunter2" in file.read_bytes()] == []


@pytest.mark.slow
def test_a_flow_with_dead_proxies(toy: Path, own_server: dict[str, str]) -> None:
    """Its temporary server is this machine's, and nothing of it is left."""
    done = rolecall(toy, "retrain", environment=own_server, **PROXIES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model   toy version 1, champion" in done.stdout
    assert list((toy / ".prefect/temporary").glob("*/")) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["retrain", "models"])
def test_a_silent_tracking_server_is_named_before_anything_starts(toy: Path, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        address = f"http://me:hunter2@127.0.0.1:{port}"
        done = rolecall(toy, command, MLFLOW_TRACKING_URI=address)
        assert done.returncode == 1
        expected = f"error: the tracking server http://***@127.0.0.1:{port} cannot be used ("
        assert done.stderr.startswith(expected), done.stderr
        assert len(done.stderr.splitlines()) == 1
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


def test_nobody_else_reads_the_password(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.touch(0o644)  # empty: of a start that was killed
    password = kept_password(file)
    assert file.read_text() == password + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert kept_password(file) == password
    assert new_password() != password
