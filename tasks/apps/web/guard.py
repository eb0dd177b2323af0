"""Bounds around the service: host, size and speed of a body, speed of an answer's reader.

ASGI. The body of a request is read as a whole before the service sees it, so no handler waits for
a slow sender. A request that its sender aborts ends without an answer and without a traceback.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tasks.apps.web.responses import refusal

MOST_BYTES = 1 << 22  # of a body
SECONDS = 20.0  # for a body to arrive, and for each piece of an answer to leave
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]/@\s]+))(?::\d+)?", re.IGNORECASE)
EVERYWHERE = ("", "0.0.0.0", "::")


@dataclass(frozen=True)
class Hosts:
    """The names of the host that a request may give.

    A page on `http://evil.example` may let its name point at 127.0.0.1 (DNS rebinding) and would
    then read our answers as its own. Its requests still carry its name in the header `Host`.

    Attributes:
        names: in lower case; loopback addresses are always ours.
        any_address: whether any IP address is, since the service listens at all of the machine's.
    """

    names: frozenset[str]
    any_address: bool

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
            size = f"more than {MOST_BYTES:,} bytes"
            fault = f"a body of {size}: send fewer titles at once", 413
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

        Raises:
            TimeoutError: it does not arrive in time.
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
