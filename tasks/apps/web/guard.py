"""Bounds around the service: host, size and speed of a body, speed of an answer's reader.

ASGI. The body of a request is read as a whole before the service sees it, so no handler waits for
a slow sender. A request that its sender aborts ends without an answer and without a traceback.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tasks.apps.web.hosts import Hosts
from tasks.apps.web.responses import refusal

MOST_BYTES = 1 << 22  # of a body
SECONDS = 20.0  # for a body to arrive, and for each piece of an answer to leave
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


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
