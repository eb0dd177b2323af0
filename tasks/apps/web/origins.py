"""Which pages of other origins may read the answers (CORS).

OpenRefine runs in the browser, at an address of its own, so every origin may read what the
reconciliation service says. The page, its titles and `POST /normalize` are for their own origin,
and for those that the owner names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastapi import Request
from fastapi.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

ORIGIN = re.compile(r"\*|https?://[^/\s]+")
RECONCILIATION = re.compile(r"/(reconcile|suggest/.*|properties|occupation)?")
FOR_PROGRAMS = {"queries", "extend", "callback"}
"""Parameters of `GET /` that only clients of the reconciliation service send."""


class Origins:
    """Lets all origins read the reconciliation service, and `allowed` ones the rest."""

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
