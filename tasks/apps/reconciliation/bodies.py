"""Requests of the Reconciliation Service API 0.2, checked; a bad one is refused with a reason.

Queries and extensions come as JSON in a form field or in the address
(https://reconciliation-api.github.io/specs/0.2/).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qs

from pydantic import Field, TypeAdapter, ValidationError

from tasks.io.section import Params

FORM = "application/x-www-form-urlencoded"
MOST_BYTES = 1 << 24  # of a body
BATCH = 1000  # queries, or occupations to extend, in one request
FAULTS = 3  # faults of a body that an answer names
Kind = TypeVar("Kind")


class BadRequest(ValueError):
    """A request that cannot be answered, with the status of the answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Entity(Params):
    """A property's value that is an entity."""

    id: str
    name: str | None = None


Value = str | bool | float | Entity


class Condition(Params):
    """A property that candidates should have."""

    pid: str
    v: Value | list[Value]

    @property
    def values(self) -> set[str]:
        """Any of these will do."""
        values = self.v if isinstance(self.v, list) else [self.v]
        return {value.id if isinstance(value, Entity) else _as_text(value) for value in values}


class Query(Params):
    """A title to be reconciled; types are taken and do not matter, as there is one."""

    query: str = ""
    type: str | list[str] | None = None
    limit: Annotated[float, Field(ge=1, le=1e9)] | None = None
    properties: list[Condition] = Field(default_factory=list)
    type_strict: Literal["any", "should", "all"] | None = None


class PropertyRequest(Params):
    """A property to be fetched."""

    id: str
    settings: dict[str, Any] = Field(default_factory=dict)


class Extension(Params):
    """Occupations, and the properties to fetch of them."""

    ids: Annotated[list[str], Field(max_length=BATCH)]
    properties: list[PropertyRequest]


QUERIES = TypeAdapter(dict[str, Query])
EXTENSION = TypeAdapter(Extension)


def read_form(body: bytes, content_type: str) -> dict[str, str]:
    """Return a form's fields, the last of each name; BadRequest if it is too large or no form."""
    if len(body) > MOST_BYTES:
        raise BadRequest(f"a body of {len(body):,} bytes; {MOST_BYTES:,} at most", 413)
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
    for name, query in queries.items():
        if not query.query and not query.properties:
            raise BadRequest(f"queries.{name}: give a query, or properties")
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
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)
