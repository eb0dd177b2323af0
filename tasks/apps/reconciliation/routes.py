"""The Reconciliation Service API 0.2 over HTTP: one address, suggestions, previews.

https://reconciliation-api.github.io/specs/0.2/: a GET is answered with the manifest; `queries` and
`extend` come in the address or a posted form. Every answer may be read from any origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tasks.apps.reconciliation.taxonomy_service import (
    BATCH,
    EXTENSION,
    TYPE,
    TaxonomyService,
    candidates,
    named_like,
    parsed,
    read_form,
    read_queries,
)
from tasks.apps.web.responses import BadRequest, as_json

SCHEMA = "http://www.w3.org/2004/02/skos/core#Concept"
WIDTH, HEIGHT = 400, 260  # of a preview, in pixels
PREVIEW_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
DIGITS = 9  # of a cursor or a limit


@dataclass(frozen=True)
class Reconciliation:
    """The service of a registered model."""

    occupations: TaxonomyService
    name: str  # that a person reads
    threshold: float  # of the confidence, from which on a candidate is a match
    one_at_a_time: Lock  # held while the model answers

    def routes(self) -> APIRouter:
        """Return all paths but `GET /`, which is also that of a page for people."""
        router = APIRouter(include_in_schema=False)
        for path in ("/", "/reconcile"):
            router.post(path)(self.post)
        router.get("/reconcile")(self.get)
        router.get("/suggest/{kind}")(self.suggest)
        router.get("/properties")(self.properties)
        router.get("/occupation")(self.occupation)
        return router

    async def get(self, request: Request) -> Response:
        """Answer what the address asks, or with the manifest."""
        fields = dict(request.query_params)
        if "queries" in fields or "extend" in fields:
            return as_json(await run_in_threadpool(self._answered, fields))
        return as_json(manifest(self.occupations, self.name, str(request.base_url)))

    async def post(self, request: Request) -> Response:
        """Answer a form."""
        fields = read_form(await request.body(), request.headers.get("content-type", ""))
        if "queries" not in fields and "extend" not in fields:
            raise BadRequest("no field queries or extend in the form")
        return as_json(await run_in_threadpool(self._answered, fields))

    def _answered(self, fields: Mapping[str, str]) -> dict[str, Any]:
        with self.one_at_a_time:
            if "queries" in fields:
                queries = read_queries(fields["queries"])
                return candidates(self.occupations, queries, self.threshold)
            return self.occupations.extended(parsed(EXTENSION, "extend", fields["extend"]))

    def suggest(self, request: Request, kind: str) -> Response:
        """Suggest occupations, properties or types that begin so."""
        prefix = request.query_params.get("prefix", "")
        cursor = _whole("cursor", request.query_params.get("cursor", "0"))
        if kind == "entity":
            return as_json({"result": self.occupations.suggested(prefix, cursor)})
        if kind not in ("property", "type"):
            raise BadRequest(f"no suggestions of {kind!r}; entity, property and type have", 404)
        types = {TYPE["id"]: TYPE["name"]}
        names = self.occupations.properties if kind == "property" else types
        return as_json({"result": named_like(names, prefix, cursor)})

    def properties(self, request: Request) -> Response:
        """List the properties of an occupation."""
        params = request.query_params
        limit = _whole("limit", params.get("limit", "1000"))
        listed = [{"id": key, "name": name} for key, name in self.occupations.properties.items()]
        kind = params.get("type", TYPE["id"])
        return as_json({"type": kind, "limit": limit, "properties": listed[:limit]})

    def occupation(self, request: Request) -> Response:
        """Show an occupation."""
        page = self.occupations.preview(request.query_params.get("id", ""))
        policy, kind = {"Content-Security-Policy": PREVIEW_POLICY}, "text/html; charset=utf-8"
        return Response(page.encode("utf-8", "replace"), headers=policy, media_type=kind)


def manifest(occupations: TaxonomyService, name: str, base: str) -> dict[str, Any]:
    """Return the service's manifest; `base` is the address of the request."""
    url = base.rstrip("/")
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
        "suggest": {
            kind: {"service_url": url, "service_path": f"/suggest/{kind}"}
            for kind in ("entity", "property", "type")
        },
        "extend": {"propose_properties": {"service_url": url, "service_path": "/properties"}},
        "batchSize": BATCH,
    }


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > DIGITS:
        raise BadRequest(f"{name} = {text!r}; it must be a whole number, 0 or more")
    return int(text)
