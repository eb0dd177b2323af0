"""Servers that answer, refuse, or say nothing; all at the loopback address."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tasks.io import reachable
from tasks.io.reachable import check_answer


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def closed() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_files_are_no_servers() -> None:
    check_answer("sqlite:////nowhere/mlflow.db")
    check_answer("/nowhere")
    check_answer("postgresql:///by_socket")


@pytest.mark.thorough
@pytest.mark.parametrize("status", [200, 401, 404, 500])
def test_any_answer_is_one(status: int) -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        check_answer(f"http://me:secret@127.0.0.1:{server.server_port}/below/")
        server.shutdown()


@pytest.mark.parametrize("scheme", ["http", "postgresql+psycopg2"])
def test_a_closed_port_is_named_without_the_password(closed: int, scheme: str) -> None:
    with pytest.raises(
        ValueError, match=rf"server {scheme.split('+')[0]}.*refused.* unset"
    ) as error:
        check_answer(f"{scheme}://me:secret@127.0.0.1:{closed}/x")
    assert f"://***@127.0.0.1:{closed}" in str(error.value)
    assert "secret" not in str(error.value)


def test_silence_ends(silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable, "SECONDS", 0.2)
    with pytest.raises(ValueError, match="timed out"):
        check_answer(f"http://127.0.0.1:{silent}")


def test_a_malformed_address_is_an_error_too() -> None:
    with pytest.raises(ValueError, match="MLFLOW_TRACKING_URI"):
        check_answer("http://host:port:8")
