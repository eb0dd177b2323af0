"""Foreign hosts and pages; bodies that are too large or never end; clients that are too slow."""

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from web_client import web_client

from tasks.apps.web import guard
from tasks.apps.web.guard import MOST_BYTES, Guard, Hosts, PromptProtocol, listening, server
from tasks.apps.web.responses import as_json

Answers = list[Message]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the size of the body."""
    message = await receive()
    assert not message["more_body"]
    await as_json(len(message["body"]))(scope, receive, send)


def guarded(
    parts: list[bytes | None], host: bytes = b"localhost", reading: Callable[[], Any] | None = None
) -> Answers:
    """Send the parts of a body, None for an end without one, and then nothing more."""
    sent: Answers = []
    messages = iter(parts)

    async def receive() -> Message:
        part = next(messages, b"nothing")
        if part == b"nothing":
            await asyncio.sleep(60)
        if part is None:
            return {"type": "http.disconnect"}
        ends = len(parts) == 1 or part == b"end"
        return {"type": "http.request", "body": part, "more_body": not ends}

    async def send(message: Message) -> None:
        if reading:
            await reading()
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", host)]}
    asyncio.run(Guard(echo, Hosts.of("127.0.0.1"), seconds=0.05)(scope, receive, send))
    return sent


def status_and_body(sent: Answers) -> tuple[int, Any]:
    start, body = sent
    return start["status"], json.loads(body["body"])


def test_a_body_comes_as_one() -> None:
    assert status_and_body(guarded([b"abc", b"", b"end"])) == (200, 6)
    headers = dict(guarded([b"abc"])[0]["headers"])
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_a_large_body_is_refused_and_not_kept() -> None:
    part = b"x" * 2**20
    status, answer = status_and_body(guarded([part] * (MOST_BYTES // len(part)) + [b"x", b"end"]))
    assert status == 413 and "more than 4,194,304 bytes" in answer["message"]


def test_a_body_that_does_not_end_is_refused() -> None:
    sent = guarded([b"a", b"b"])
    status, answer = status_and_body(sent)
    assert status == 408 and "did not arrive within 0.05 seconds" in answer["message"]
    assert (b"connection", b"close") in sent[0]["headers"]


def test_an_aborted_request_gets_no_answer() -> None:
    assert guarded([b"a", None]) == []


def test_a_foreign_host_is_refused_and_a_reader_that_does_not_read_is_left() -> None:
    status, answer = status_and_body(guarded([b"abc"], host=b"evil.example"))
    assert status == 421 and "'evil.example'" in answer["message"]
    assert "--allow-host=evil.example" in answer["message"]
    assert guarded([b"abc"], reading=lambda: asyncio.sleep(60)) == []


LOOPBACK = ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:80", "127.8.9.1", "[::1]:8000"]
FOREIGN = [
    *("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("", "localhost:", "a b", "localhost:8000@evil", "[::1", "user@localhost", "2130706433", None),
]


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "0.0.0.0", "::", "box"])
def test_loopback_names_are_always_ours_and_foreign_ones_never(host: str) -> None:
    assert [name for name in LOOPBACK if name not in Hosts.of(host)] == []
    assert [name for name in FOREIGN if name in Hosts.of(host)] == []


def test_the_address_that_it_listens_at_and_further_names() -> None:
    hosts = Hosts.of("10.0.0.7", ["Titles.example"])
    assert "10.0.0.7:8000" in hosts and "titles.example" in hosts
    assert "10.0.0.8" not in hosts and "192.168.1.1" not in hosts


def test_everywhere_means_any_address_and_the_name_of_the_machine() -> None:
    hosts = Hosts.of("0.0.0.0")
    assert "192.168.1.1:8000" in hosts and "[fe80::1]" in hosts and socket.gethostname() in hosts


ALLOW = "access-control-allow-origin"
OTHER, OURS = "https://evil.example", "https://tools.example.org"
PAGE = {"Accept": "text/html"}
RECONCILIATION = ("/", "/?queries={}", "/reconcile", "/suggest/entity", "/properties")
RECONCILIATION += ("/occupation",)


def test_openrefine_reads_at_any_origin() -> None:
    service = web_client()
    for path in RECONCILIATION:
        assert service.get(path, headers={"Origin": OTHER}).headers[ALLOW] == "*", path
    headers = {"Origin": OTHER, "Access-Control-Request-Method": "POST"}
    assert service.options("/", headers=headers).headers[ALLOW] == "*"
    bad = service.post("/", data={"queries": "no"}, headers={"Origin": OTHER})
    assert bad.status_code == 400 and bad.headers[ALLOW] == "*"


@pytest.mark.parametrize("origins", [(), (OURS,)])
def test_page_and_titles_are_for_their_own_origin(origins: tuple[str, ...]) -> None:
    """A foreign page gets no permission, so its browser sends no titles."""
    service, other = web_client(None, 0.5, *origins), {"Origin": OTHER}
    for path in ("/", "/docs", "/openapi.json", "/none"):
        assert ALLOW not in service.get(path, headers=PAGE | other).headers, path
    answer = service.post("/normalize", json={"titles": ["baker"]}, headers=other)
    assert answer.status_code == 200 and ALLOW not in answer.headers
    wanted = {"Access-Control-Request-Method": "POST", **other}
    wanted |= {"Access-Control-Request-Headers": "content-type"}
    before = service.options("/normalize", headers=wanted)
    assert before.status_code == 400 and ALLOW not in before.headers


def test_an_allowed_origin_reads_everything() -> None:
    service, ours = web_client(None, 0.5, OURS), {"Origin": OURS}
    for path in ("/normalize", "/"):
        wanted = {"Access-Control-Request-Method": "POST", **ours}
        before = service.options(path, headers=wanted)
        assert before.status_code == 200 and before.headers[ALLOW] in (OURS, "*")
    answer = service.post("/normalize", json={"titles": ["baker"]}, headers=ours)
    assert answer.headers[ALLOW] == OURS and "Origin" in answer.headers["vary"]
    assert service.get("/", headers=PAGE | ours).headers[ALLOW] == OURS


@pytest.mark.parametrize("origin", ["tools.example.org", "https://tools.example.org/", ""])
def test_what_no_browser_sends_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="is no origin, such as https://tools"):
        web_client(None, 0.5, origin)


HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(PromptProtocol, "head_seconds", 0.3)
    with listening("127.0.0.1", 0) as listener:
        running = server(as_json("answered"))
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
    assert guard.HEAD_SECONDS <= 30
