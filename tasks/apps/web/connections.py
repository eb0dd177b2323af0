"""The server: a socket taken early, and connections that cannot be held for nothing.

Uvicorn limits neither how long the head of a request may take nor how many connections there are;
senders of one byte a second (slowloris) would keep them all.
"""

from __future__ import annotations

import asyncio
import errno
import socket

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # from the first byte, or the connection, to the end of a request's head
CONNECTIONS = 200  # at once; beyond it a request gets status 503
HEAD_BYTES = 1 << 16  # of a request's head, its address included


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
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=PromptProtocol,
            ws="none",
            lifespan="off",
            log_level="warning",
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=HEAD_BYTES,
            timeout_graceful_shutdown=5,
        )
    )


def listening(host: str, port: int) -> socket.socket:
    """Take a port before the model is loaded; early requests wait.

    Raises:
        ValueError: the port is in use, or host or port is none.
    """
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
