"""Requests of the Reconciliation Service API 0.2, checked; a bad one is refused with a reason.

Queries and extensions come as JSON in a form field or in the address
(https://reconciliation-api.github.io/specs/0.2/). Whatever its schemas allow is read, and unknown
members are skipped; the bounds are ours.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qs

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tasks.apps.web.responses import BadRequest

FORM = "application/x-www-form-urlencoded"
BATCH = 1000  # queries, or occupations to extend, in one request
PROPERTIES = 100  # to fetch in one request, or conditions of a query
CONDITIONS = 10_000  # of all queries of a batch
FAULTS = 3  # faults of a body that an answer names
Kind = TypeVar("Kind")


class Body(BaseModel):
    """A part of a request: its values are of their types, unknown members are skipped."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Entity(Body):
    """A property's value that is an entity."""

    id: str
    name: str | None = None


Value = str | bool | float | Entity


class Condition(Body):
    """A property that candidates should have."""

    pid: str
    v: Value | list[Value]

    @cached_property
    def values(self) -> set[str]:
        """Any of these will do."""
        values = self.v if isinstance(self.v, list) else [self.v]
        return {value.id if isinstance(value, Entity) else _as_text(value) for value in values}


class Query(Body):
    """A title to be reconciled; types are taken and do not matter, as there is one."""

    query: str = ""
    type: str | list[str] | None = None
    limit: Annotated[float, Field(allow_inf_nan=False)] | None = None
    properties: Annotated[list[Condition], Field(max_length=PROPERTIES)] = []
    type_strict: Literal["any", "should", "all"] | None = None


class PropertyRequest(Body):
    """A property to be fetched."""

    id: str
    settings: dict[str, Any] = Field(default_factory=dict)


def _each_once(properties: list[PropertyRequest]) -> list[PropertyRequest]:
    names = [one.id for one in properties]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{twice[0]!r} stands twice")
    return properties


class Extension(Body):
    """Occupations, and the properties to fetch of them."""

    ids: Annotated[list[str], Field(max_length=BATCH)]
    properties: Annotated[
        list[PropertyRequest], Field(max_length=PROPERTIES), AfterValidator(_each_once)
    ]


QUERIES = TypeAdapter(dict[str, Query])
EXTENSION = TypeAdapter(Extension)


def read_form(body: bytes, content_type: str) -> dict[str, str]:
    """Return a form's fields, the last of each name; BadRequest if it is no form."""
    if content_type.partition(";")[0].strip().lower() != FORM:
        raise BadRequest(f"content type {content_type!r}; post a form: {FORM}", 415)
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=9)
    except ValueError as error:
        raise BadRequest(f"no form in UTF-8: {error}") from None
    return {name: values[-1] for name, values in fields.items()}


def read_queries(text: str) -> dict[str, Query]:
    """Read a batch of queries; BadRequest if it is none, or a large one."""
    queries = _read(QUERIES, "queries", text)
    if len(queries) > BATCH:
        raise BadRequest(f"{len(queries):,} queries; {BATCH:,} at most", 413)
    conditions = sum(len(query.properties) for query in queries.values())
    if conditions > CONDITIONS:
        raise BadRequest(f"{conditions:,} properties in all queries; {CONDITIONS:,} at most", 413)
    return queries


def read_extension(text: str) -> Extension:
    """Read a data extension query; BadRequest if it is none."""
    return _read(EXTENSION, "extend", text)


def _read(kind: TypeAdapter[Kind], name: str, text: str) -> Kind:
    try:
        return kind.validate_json(text.encode("utf-8", "replace"))
    except ValidationError as error:
        faults = [
            f"{'.'.join([name, *map(str, fault['loc'])])}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)[:FAULTS]
        ]
        raise BadRequest("; ".join(faults)) from None


def _as_text(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)
