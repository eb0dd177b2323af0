"""The pages of the service: titles answered while one types, and the description of the API.

Each is one document with style and script inside. Its content security policy allows these two by
their hashes, and requests to the service itself: nothing comes from outside, no title can become a
script, and no other page can frame it.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import Response

FOLDER = Path(__file__).with_name("browser")
POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
EXAMPLE = """curl {base}normalize -H 'Content-Type: application/json' \\
  -d '{{"titles": ["night nurse"], "top_k": 3}}'"""


def title_page(name: str) -> Response:
    """Return the page for people; `name` is that of the service."""
    return _page("titles.html", {"name": html.escape(name)}, _text("titles.js"))


def api_page(schema: Mapping[str, Any], base: str) -> Response:
    """Describe the service by its OpenAPI schema; `base` is its address."""
    operations = [
        _operation(method, path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    objects = [_table(name, one) for name, one in schema["components"]["schemas"].items()]
    names = ("title", "version", "description")
    fields = {name: html.escape(schema["info"][name]) for name in names}
    fields |= {"operations": "".join(operations + objects)}
    return _page("api.html", fields | {"example": html.escape(EXAMPLE.format(base=base))})


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    request, response = operation["requestBody"], operation["responses"]["200"]
    names = [_kind(one["content"]["application/json"]["schema"]) for one in (request, response)]
    refused = ", ".join(sorted({*operation["responses"]} - {"200"}))
    return (
        f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
        f"<p>{html.escape(operation['description'])} Send <code>{names[0]}</code>, receive "
        f"<code>{names[1]}</code>. A refusal has the status {refused} and a <code>message</code>."
        "</p>"
    )


def _table(name: str, schema: Mapping[str, Any]) -> str:
    """Return a table of an object's fields."""
    rows = "".join(
        f"<tr><th scope=row><code>{html.escape(key)}</code></th>"
        f"<td>{html.escape(_kind(field))}</td>"
        f"<td>{html.escape(field.get('description', ''))}</td></tr>"
        for key, field in schema["properties"].items()
    )
    caption = html.escape(f"{name}: {schema['description']}")
    return f"<div class=wide><table><caption>{caption}</caption>{rows}</table></div>"


def _kind(field: Mapping[str, Any]) -> str:
    """Write the type of a field and its bounds."""
    if "anyOf" in field:
        return " or ".join(map(_kind, field["anyOf"]))
    if "$ref" in field:
        return str(field["$ref"].rsplit("/", 1)[1])
    kind = str(field.get("type", "any"))
    if kind == "array":
        kind = f"list of {_kind(field['items'])}"
    bounds = {"minimum": "from", "maximum": "to", "maxItems": "at most"}
    limits = [f"{word} {field[key]:g}" for key, word in bounds.items() if key in field]
    return " ".join([kind, *limits])


def _page(file: str, fields: Mapping[str, str], script: str = "") -> Response:
    style = _text("page.css")
    policy = f"{POLICY}; style-src '{hash_of(style)}'; script-src '{hash_of(script)}'"
    document = _text(file).replace("{{style}}", style).replace("{{script}}", script)
    for name, text in fields.items():
        document = document.replace(f"{{{{{name}}}}}", text)
    headers = {"Content-Security-Policy": policy, "Vary": "Accept", "Cache-Control": "no-cache"}
    return Response(document, headers=headers, media_type="text/html; charset=utf-8")


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """Return the source by which a content security policy allows a style or a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
