"""The registered model behind a web port: page, titles as JSON, OpenRefine's service, a guard."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from models.serving.model import Normalizer
from tasks.apps.reconciliation.routes import Reconciliation
from tasks.apps.reconciliation.taxonomy_service import TaxonomyService
from tasks.apps.web import titles
from tasks.apps.web.guard import Guard, Hosts, Origins, listening, server, wants_page
from tasks.apps.web.pages import api_page, title_page
from tasks.apps.web.responses import BadRequest, faults_of, refusal
from tasks.release.registry.opening import opened

DESCRIPTION = (
    "Raw job titles in, occupations out. The same address is a reconciliation service for "
    "OpenRefine, version 0.2: https://reconciliation-api.github.io/specs/0.2/"
)


def serve(
    model: str,
    root: Path,
    *,
    host: str,
    port: int,
    min_confidence: float,
    allow_hosts: Sequence[str],
    allow_origins: Sequence[str],
) -> None:
    """Load a model of `root`'s registry, and answer until interrupted; exit status 130."""
    if not 0 <= min_confidence <= 1:
        raise ValueError(f"--min-confidence={min_confidence}; it is a chance, 0 to 1")
    with listening(host, port) as listener, opened(model, root) as (address, normalizer):
        hosts = Hosts.of(host, allow_hosts)
        app = application(normalizer, address, min_confidence, hosts, allow_origins)
        page = f"http://{host}:{listener.getsockname()[1]}/"
        print(f"{readable(address)}: {page} is the page and the service to add", flush=True)
        with suppress(KeyboardInterrupt):  # it has shut down, and passes the signal on
            server(app).run(sockets=[listener])
    sys.exit(130)


def application(
    normalizer: Normalizer,
    address: str,
    threshold: float,
    hosts: Hosts,
    origins: Sequence[str] = (),
) -> ASGIApp:
    """Return the service of the model at an address.

    `threshold`: of the confidence, from which on a candidate is a match; `hosts`: names by which
    the service may be called; `origins`: of other pages that may read all answers.
    """
    name, lock = readable(address), Lock()
    version = normalizer.versions["model_version"]
    app = FastAPI(
        title=name, version=version, description=DESCRIPTION, docs_url=None, redoc_url=None
    )
    _refuse_in_words(app)
    service = Reconciliation(TaxonomyService(normalizer), name, threshold, lock)

    @app.get("/", include_in_schema=False)
    async def root(request: Request) -> Response:
        return title_page(name) if wants_page(request) else await service.get(request)

    @app.get("/docs", include_in_schema=False)
    def docs(request: Request) -> Response:
        return api_page(app.openapi(), str(request.base_url))

    app.include_router(titles.routes(normalizer, address, lock))
    app.include_router(service.routes())
    schema = app.openapi()  # in which FastAPI adds a status of its own that never comes
    for path in schema["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
    for error in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(error)
    return Guard(Origins(app, origins), hosts)


def readable(address: str) -> str:
    """Name a service by the address of its model, as a list of services shows it."""
    match = re.fullmatch(r"models:/([^/@]+)/(\d+)", address)
    model = f"{match[1]} version {match[2]}" if match else address.rstrip("/").split("/")[-1]
    return f"Rolecall: {model}"


def _refuse_in_words(app: FastAPI) -> None:
    """Answer every kind of refusal with its status and a message."""

    @app.exception_handler(BadRequest)
    def bad(request: Request, error: BadRequest) -> Response:
        return refusal(str(error), error.status)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        kind = request.headers.get("content-type", "")
        if "json" not in kind:
            return refusal(f"content type {kind!r}; post JSON: application/json", 415)
        return refusal(faults_of(error.errors()), 400)

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> Response:
        message = f"{request.method} {request.url.path}: {error.detail}"
        response = refusal(message, error.status_code)
        response.headers.update(error.headers or {})
        return response
