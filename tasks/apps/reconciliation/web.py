"""The Reconciliation Service API 0.2 over HTTP: one address, suggestions, previews.

https://reconciliation-api.github.io/specs/0.2/: `GET /` is the manifest; `queries` and `extend`
come in the address or a posted form. Every answer may be read from any origin.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from starlette.concurrency import run_in_threadpool

from tasks.apps.reconciliation.bodies import (
    BATCH,
    MOST_BYTES,
    BadRequest,
    read_extension,
    read_form,
    read_queries,
)
from tasks.apps.reconciliation.candidates import candidates
from tasks.apps.reconciliation.taxonomy_service import TYPE, TaxonomyService, named_like

SCHEMA = "http://www.w3.org/2004/02/skos/core#Concept"
WIDTH, HEIGHT = 400, 260  # of a preview, in pixels


def application(occupations: TaxonomyService, name: str, threshold: float) -> FastAPI:
    """Return the service.

    `threshold`: of the confidence, from which on a candidate is a match.
    """
    app = FastAPI(title=name, openapi_url=None)
    app.add_middleware(
        CORSMiddleware, allow_origins=["*"], allow_methods=["*"], allow_headers=["*"]
    )
    one_at_a_time = Lock()

    def answered(fields: Mapping[str, str]) -> dict[str, Any]:
        with one_at_a_time:
            if "queries" in fields:
                return candidates(occupations, read_queries(fields["queries"]), threshold)
            return occupations.extended(read_extension(fields["extend"]))

    @app.exception_handler(BadRequest)
    def refused(request: Request, error: BadRequest) -> Response:
        return _json({"status": "error", "message": str(error)}, error.status)

    @app.get("/")
    async def get(request: Request) -> Response:
        fields = dict(request.query_params)
        if "queries" in fields or "extend" in fields:
            return _json(await run_in_threadpool(answered, fields))
        return _json(manifest(occupations, name, str(request.base_url)))

    @app.post("/")
    async def post(request: Request) -> Response:
        body = await _body(request)
        fields = read_form(body, request.headers.get("content-type", ""))
        if "queries" not in fields and "extend" not in fields:
            raise BadRequest("no field queries or extend in the form")
        return _json(await run_in_threadpool(answered, fields))

    @app.get("/suggest/{kind}")
    def suggest(request: Request, kind: str) -> Response:
        prefix = request.query_params.get("prefix", "")
        cursor = _whole("cursor", request.query_params.get("cursor", "0"))
        if kind == "entity":
            return _json({"result": occupations.suggested(prefix, cursor)})
        if kind not in ("property", "type"):
            raise BadRequest(f"no suggestions of {kind!r}; entity, property and type have", 404)
        names = occupations.properties if kind == "property" else {TYPE["id"]: TYPE["name"]}
        return _json({"result": named_like(names, prefix, cursor)})

    @app.get("/properties")
    def properties(request: Request) -> Response:
        params = request.query_params
        limit = _whole("limit", params.get("limit", "1000"))
        listed = [{"id": key, "name": name} for key, name in occupations.properties.items()]
        kind = params.get("type", TYPE["id"])
        return _json({"type": kind, "limit": limit, "properties": listed[:limit]})

    @app.get("/occupation")
    def occupation(request: Request) -> Response:
        page = occupations.preview(request.query_params.get("id", ""))
        return Response(page.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")

    return app


def manifest(occupations: TaxonomyService, name: str, base: str) -> dict[str, Any]:
    """Return the service's manifest; `base` is the address of the request."""
    paths = {
        kind: {"service_url": base.rstrip("/"), "service_path": f"/suggest/{kind}"}
        for kind in ("entity", "property", "type")
    }
    page = {"url": f"{base}occupation?id={{{{id}}}}"}
    return {
        "versions": ["0.2"],
        "name": name,
        "identifierSpace": occupations.space or f"{base}occupation?id=",
        "schemaSpace": SCHEMA,
        "serviceVersion": occupations.normalizer.versions["model_version"],
        "defaultTypes": [TYPE],
        "view": page,
        "preview": page | {"width": WIDTH, "height": HEIGHT},
        "suggest": paths,
        "extend": {
            "propose_properties": {"service_url": base.rstrip("/"), "service_path": "/properties"}
        },
        "batchSize": BATCH,
    }


async def _body(request: Request) -> bytes:
    """Read at most a little more than `MOST_BYTES`."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            break
    return bytes(body)


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(MOST_BYTES)):
        raise BadRequest(f"{name} = {text!r}; it must be a whole number, 0 or more")
    return int(text)


def _json(value: object, status: int = 200) -> Response:
    # in ASCII: a lone surrogate that a client sent has no UTF-8
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")
