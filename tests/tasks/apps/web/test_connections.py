"""Connections that send no request, or one byte now and then, are closed; others are answered."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from threading import Thread

import pytest
from starlette.types import Receive, Scope, Send

from tasks.apps.web import guard as connections
from tasks.apps.web.guard import PromptProtocol, listening, server
from tasks.apps.web.responses import as_json

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    await as_json("answered")(scope, receive, send)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(PromptProtocol, "head_seconds", 0.3)
    with listening("127.0.0.1", 0) as listener:
        running = server(answer)
        thread = Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()
        running.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def dripped(address: tuple[str, int], first: bytes) -> bytes:
    """Send a beginning and then a byte now and then, for half a minute; return what is received."""
    with socket.create_connection(address, 30) as connection:
        connection.sendall(first)
        connection.settimeout(0.05)
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            try:
                return connection.recv(1 << 16)
            except TimeoutError:
                connection.sendall(b"x")
            except ConnectionResetError:
                return b""
    raise AssertionError("it is held")


@pytest.mark.thorough
def test_slow_heads_are_closed_and_others_answered(address: tuple[str, int]) -> None:
    for first in (b"", b"G", HEAD + b"X-Header: "):
        assert dripped(address, first) == b""
    with socket.create_connection(address, 30) as connection:
        for _ in range(2):  # a connection that is kept
            connection.sendall(HEAD + b"\r\n")
            received = b""
            while not received.endswith(b'"answered"'):
                received += connection.recv(1 << 16)
            assert received.startswith(b"HTTP/1.1 200 OK")
        connection.sendall(HEAD)
        assert connection.recv(1 << 16) == b"", "a second head is waited for no longer"


def test_a_host_that_is_none_is_said() -> None:
    with pytest.raises(ValueError, match=r"256\.0\.0\.1:80 cannot be used"):
        listening("256.0.0.1", 80)
    assert connections.HEAD_SECONDS <= 30
