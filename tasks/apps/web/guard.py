"""Bounds around the service: host, origins, connections, size and speed of what comes and goes.

ASGI. The body of a request is read as a whole before the service sees it, so no handler waits for
a slow sender. A request that its sender aborts ends without an answer and without a traceback.
Uvicorn limits neither how long the head of a request may take nor how many connections there are;
senders of one byte a second (slowloris) would keep them all.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

import h11
import uvicorn
from fastapi import Request
from fastapi.middleware.cors import CORSMiddleware
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from tasks.apps.web.responses import refusal

MOST_BYTES = 1 << 22  # of a body
SECONDS = 20.0  # for a body to arrive, and for each piece of an answer to leave
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]/@\s]+))(?::\d+)?", re.IGNORECASE)
EVERYWHERE = ("", "0.0.0.0", "::")
ORIGIN = re.compile(r"\*|https?://[^/\s]+")
RECONCILIATION = re.compile(r"/(reconcile|suggest/.*|properties|occupation)?")
FOR_PROGRAMS = {"queries", "extend", "callback"}  # params of `GET /` that no browser's page sends
HEAD_SECONDS = 10.0  # from the first byte, or the connection, to the end of a request's head
CONNECTIONS = 200  # at once; beyond it a request gets status 503
HEAD_BYTES = 1 << 16  # of a request's head, its address included


@dataclass(frozen=True)
class Hosts:
    """The names of the host that a request may give; loopback addresses are always among them.

    A page on `http://evil.example` may let its name point at 127.0.0.1 (DNS rebinding) and would
    then read our answers as its own. Its requests still carry its name in the header `Host`.
    """

    names: frozenset[str]  # in lower case
    any_address: bool  # whether the service listens at all addresses of the machine

    @classmethod
    def of(cls, host: str, more: Iterable[str] = ()) -> Self:
        """Return the names for the address that the service listens at, and those of its owner."""
        everywhere = host in EVERYWHERE
        own = {socket.gethostname(), socket.getfqdn()} if everywhere else {host}
        return cls(frozenset(name.lower() for name in {"localhost", *own, *more}), everywhere)

    def __contains__(self, header: object) -> bool:
        """Tell whether a header `Host`, with or without a port, names us."""
        match = HOST.fullmatch(header) if isinstance(header, str) else None
        if not match:
            return False
        name = (match[1] or match[2]).lower()
        try:
            address = ip_address(name)
        except ValueError:  # a name, not an address
            return name in self.names
        return self.any_address or address.is_loopback or name in self.names


class Guard:
    """Refuses what is not for us, too large or too slow."""

    def __init__(self, app: ASGIApp, hosts: Hosts, seconds: float = SECONDS) -> None:
        self._app, self._hosts, self._seconds = app, hosts, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            async with asyncio.timeout(self._seconds):
                await send(message)

        host, fault = Headers(scope=scope).get("host", ""), None
        try:
            body = await self._body(receive)
        except TimeoutError:
            body, fault = b"", (f"the body did not arrive within {self._seconds:g} seconds", 408)
        if body is None:
            return
        if len(body) > MOST_BYTES:
            fault = f"a body of more than {MOST_BYTES:,} bytes: send fewer titles at once", 413
        if host not in self._hosts:
            fault = (
                f"this service is not called {host!r}: if it is, add --allow-host={host} to "
                "`rolecall serve`",
                421,
            )
        with suppress(TimeoutError):  # of a reader that is too slow: the server closes
            if fault is None:
                await self._app(scope, _once(body, receive), answer)
            else:
                response = refusal(*fault)
                response.headers["Connection"] = "close"
                await response(scope, receive, answer)

    async def _body(self, receive: Receive) -> bytes | None:
        """Keep a little more than `MOST_BYTES` at most; None if the sender has gone.

        The rest is read and dropped, since a sender reads no answer before it has sent everything.
        A TimeoutError says that it did not arrive in time.
        """
        body = bytearray()
        async with asyncio.timeout(self._seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                if len(body) <= MOST_BYTES:
                    body += message.get("body", b"")
                if not message.get("more_body"):
                    return bytes(body)


def _once(body: bytes, receive: Receive) -> Receive:
    """Hand out the body, and then whatever comes."""
    parts = [body]

    async def received() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return await receive()

    return received


class Origins:
    """Lets pages of all origins read the reconciliation service, and `allowed` ones the rest.

    OpenRefine runs in the browser, at an address of its own. The page, its titles and `POST
    /normalize` are for their own origin, and for those that the owner names.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str] = ()) -> None:
        if wrong := [origin for origin in allowed if not ORIGIN.fullmatch(origin)]:
            raise ValueError(f"{wrong[0]!r} is no origin, such as https://tools.example.org")
        self._to_all, self._to_allowed = (
            CORSMiddleware(app, allow_origins=origins, allow_methods=["*"], allow_headers=["*"])
            for origins in (["*"], allowed)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        everybody = (
            scope["type"] == "http"
            and RECONCILIATION.fullmatch(scope["path"])
            and not wants_page(Request(scope))
        )
        await (self._to_all if everybody else self._to_allowed)(scope, receive, send)


def wants_page(request: Request) -> bool:
    """Tell whether a browser asks for the page, which has the address of the service."""
    return (
        (request.method, request.url.path) == ("GET", "/")
        and "text/html" in request.headers.get("accept", "")
        and not FOR_PROGRAMS.intersection(request.query_params)
    )


class PromptProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose request does not begin in time."""

    head_seconds = HEAD_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request from now on."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop to wait when a head is complete; wait for the rest of one that has begun."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._close)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE:
            self.transport.abort()


def server(app: ASGIApp) -> uvicorn.Server:
    """Return a server that logs warnings only."""
    config = uvicorn.Config(
        app,
        http=PromptProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)


def listening(host: str, port: int) -> socket.socket:
    """Take a port before the model is loaded, or raise a ValueError; early requests wait."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        fault = "is in use: choose another, --port=8001" if taken else f"cannot be used: {error}"
        raise ValueError(f"{host}:{port} {fault}") from None
    return listener
