"""The contract of the Reconciliation Service API 0.2, its JSON schemas restated.

Each stands for the published one of its name below
https://reconciliation-api.github.io/specs/0.2/schemas/. With the published files in a folder named
by ROLECALL_RECONCILIATION_SCHEMAS these are asked instead.
"""

import json
import os
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from referencing import Registry, Resource

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required]}


def _only(*required: str, **properties: Any) -> dict[str, Any]:
    return {**_object(*required, **properties), "additionalProperties": False}


def _any_of(**values: Any) -> dict[str, Any]:
    """An object of any names, whose values are alike."""
    return {"type": "object", "additionalProperties": values}


def _list(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _listed(**more: Any) -> dict[str, Any]:
    thing = _object("id", "name", id=TEXT, name=TEXT, description=TEXT, **more)
    return _object("result", result=_list(thing))


TYPE = _object("id", "name", id=TEXT, name=TEXT)
TYPES = _list({"oneOf": [_object("id", id=TEXT, name=TEXT), TEXT]})
TEMPLATE = {"type": "string", "pattern": r".*\{\{id\}\}.*"}
SIDE = {"type": "integer"}
SERVICE = _object(service_url=TEXT, service_path=TEXT)
FEATURE = _object(id=TEXT, value={"oneOf": [{"type": "boolean"}, NUMBER]})
CANDIDATE = _object(
    *("id", "name", "score"),
    **dict.fromkeys(("id", "name", "description"), TEXT),
    **{"score": NUMBER, "features": _list(FEATURE), "match": {"type": "boolean"}, "type": TYPES},
)
VALUES = [_only(), _only("id", "name", id=TEXT, name=TEXT, description=TEXT)]
VALUES += [_only("str", str=TEXT), _only("float", float=NUMBER), _only("int", int=SIDE)]
TEXTS = ("name", "identifierSpace", "schemaSpace", "documentation", "serviceVersion")
SCHEMAS: dict[str, dict[str, Any]] = {
    "manifest": _object(
        *("versions", "name", "identifierSpace", "schemaSpace"),
        **dict.fromkeys(TEXTS, TEXT),
        versions=_list(TEXT, contains={"enum": ["0.2"]}),
        view=_object("url", url=TEMPLATE),
        defaultTypes=_list(TYPE, uniqueItems=True),
        suggest=_object(entity=SERVICE, property=SERVICE, type=SERVICE),
        preview=_object("url", "width", "height", url=TEMPLATE, width=SIDE, height=SIDE),
        extend=_object(propose_properties=SERVICE),
    ),
    "reconciliation-result-batch": _any_of(**_object("result", result=_list(CANDIDATE))),
    "suggest-entities-response": _listed(notable=TYPES),
    "suggest-properties-response": _listed(),
    "suggest-types-response": _listed(),
    "data-extension-response": _object(
        *("rows", "meta"), meta=_list(TYPE), rows=_any_of(**_any_of(**_list({"oneOf": VALUES})))
    ),
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
