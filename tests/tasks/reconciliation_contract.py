"""The contract of the Reconciliation Service API 0.2, its JSON schemas restated.

Each stands for the published one of its name below
https://reconciliation-api.github.io/specs/0.2/schemas/. With the published files in a folder named
by ROLECALL_RECONCILIATION_SCHEMAS these are asked instead.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from referencing import Registry, Resource

TEXT = {"type": "string"}
NAMED = {
    "type": "object",
    "properties": {"id": TEXT, "name": TEXT},
    "required": ["id"],
}
TYPE = {**NAMED, "required": ["id", "name"]}
TYPES = {"type": "array", "items": {"oneOf": [NAMED, TEXT]}}
TEMPLATE = {"type": "string", "pattern": r".*\{\{id\}\}.*"}
SERVICE = {"type": "object", "properties": {"service_url": TEXT, "service_path": TEXT}}


def _listed(**properties: Any) -> dict[str, Any]:
    thing = {
        "type": "object",
        "properties": {"id": TEXT, "name": TEXT, "description": TEXT, **properties},
        "required": ["id", "name"],
    }
    result = {"type": "array", "items": thing}
    return {"type": "object", "properties": {"result": result}, "required": ["result"]}


def _only(kind: str, **name: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": name,
        "required": [kind],
        "additionalProperties": False,
    }


FEATURE = {
    "type": "object",
    "properties": {"id": TEXT, "value": {"oneOf": [{"type": "boolean"}, {"type": "number"}]}},
}
CANDIDATE = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "name": TEXT,
        "description": TEXT,
        "score": {"type": "number"},
        "features": {"type": "array", "items": FEATURE},
        "match": {"type": "boolean"},
        "type": TYPES,
    },
    "required": ["id", "name", "score"],
}
VALUE = {
    "oneOf": [
        {"type": "object", "additionalProperties": False},
        {**_only("id", id=TEXT, name=TEXT, description=TEXT), "required": ["id", "name"]},
        _only("str", str=TEXT),
        _only("float", float={"type": "number"}),
        _only("int", int={"type": "integer"}),
    ]
}
ROW = {"type": "object", "additionalProperties": {"type": "array", "items": VALUE}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "manifest": {
        "type": "object",
        "properties": {
            "versions": {"type": "array", "items": TEXT, "contains": {"enum": ["0.2"]}},
            **dict.fromkeys(
                ("name", "identifierSpace", "schemaSpace", "documentation", "serviceVersion"), TEXT
            ),
            "view": {"type": "object", "properties": {"url": TEMPLATE}, "required": ["url"]},
            "defaultTypes": {"type": "array", "items": TYPE, "uniqueItems": True},
            "suggest": {
                "type": "object",
                "properties": dict.fromkeys(("entity", "property", "type"), SERVICE),
            },
            "preview": {
                "type": "object",
                "properties": {
                    "url": TEMPLATE,
                    "width": {"type": "integer"},
                    "height": {"type": "integer"},
                },
                "required": ["url", "width", "height"],
            },
            "extend": {"type": "object", "properties": {"propose_properties": SERVICE}},
        },
        "required": ["versions", "name", "identifierSpace", "schemaSpace"],
    },
    "reconciliation-result-batch": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {"result": {"type": "array", "items": CANDIDATE}},
            "required": ["result"],
        },
    },
    "suggest-entities-response": _listed(notable=TYPES),
    "suggest-properties-response": _listed(),
    "suggest-types-response": _listed(),
    "data-extension-response": {
        "type": "object",
        "properties": {
            "meta": {"type": "array", "items": TYPE},
            "rows": {"type": "object", "additionalProperties": ROW},
        },
        "required": ["rows", "meta"],
    },
}


def check(name: str, answer: object) -> None:
    """Raise if an answer is not what a schema allows."""
    folder = os.environ.get("ROLECALL_RECONCILIATION_SCHEMAS")
    if folder is None:
        Draft7Validator(SCHEMAS[name]).validate(answer)
        return
    files = {path.name: json.loads(path.read_text()) for path in Path(folder).glob("*.json")}
    known = Registry().with_resources(
        (content.get("$id", file), Resource.from_contents(content | {"$schema": DRAFT}))
        for file, content in files.items()
    )
    schema = files[f"{name}.json"]
    Draft7Validator(schema, registry=known).validate(answer)


DRAFT = "http://json-schema.org/draft-07/schema#"
