"""Every parameter: default and comment from `params.yaml`, type and range from its class."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import yaml
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from reference_tables import table

from models.network.kinds import encoder_class, loss_parts
from tasks.check_params import AllParams

HEAD = """# Parameters

`params.yaml` holds every default. A profile (`profiles/NAME.yaml`) replaces values of it.
An unknown name or a value out of range ends a run before anything starts, with a message that names
the allowed values. In the last column `paper` marks the value of the paper that a section
names, first of all Neculoiu et al. 2016, and `ours` a choice that the paper leaves open.
"""
COMMENT = re.compile(r"(?:^|\s)#\s?(.*)$")
GOES_ON = re.compile(r"^\s+#\s?(.*)$")
WORDS: dict[object, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
}
RANGES = ((Ge, "ge", "at least"), (Gt, "gt", "above"), (Le, "le", "at most"), (Lt, "lt", "below"))


class Parameter(NamedTuple):
    """One name of the file: where it stands, its value as written, and its comment."""

    path: tuple[str, ...]
    value: str | None
    comment: str


def parameters_page(root: Path) -> str:
    """Write the page: a heading for each section, a table below it."""
    text = (root / "params.yaml").read_text(encoding="utf-8")
    parameters = list(read(text))
    top = [one for one in parameters if len(one.path) == 1 and one.value is not None]
    pages = [HEAD, "## Above all sections\n\n" + section_table(top, 0)]
    for section in (one for one in parameters if len(one.path) == 1 and one.value is None):
        own = [one for one in parameters if one.path[0] == section.path[0] and len(one.path) > 1]
        intro = f"{section.comment}\n\n" if section.comment else ""
        pages.append(f"## {section.path[0]}\n\n{intro}{section_table(own, 1)}")
    return "\n\n".join(pages) + "\n"


def section_table(parameters: list[Parameter], depth: int) -> str:
    """Write parameters of one section, named from `depth` on."""
    rows = [
        (
            f"`{'.'.join(one.path[depth:])}`",
            f"`{one.value}`" if one.value is not None else "",
            type_of(one.path) if one.value is not None else "",
            one.comment,
        )
        for one in parameters
        if one.value is not None or one.comment
    ]
    return table(("name", "default", "type", "meaning"), rows)


def read(text: str) -> Iterator[Parameter]:
    """Yield every name of the file in its order; a list or a mapping on one line is one value."""
    lines = text.splitlines()

    def walk(node: yaml.MappingNode, above: tuple[str, ...]) -> Iterator[Parameter]:
        for key, value in node.value:
            path = (*above, key.value)
            block = isinstance(value, yaml.MappingNode) and not value.flow_style and value.value
            value_text = None if block else written(text, value)
            yield Parameter(path, value_text, comment(lines, key.start_mark.line))
            if block:
                yield from walk(value, path)

    tree = yaml.compose(text)
    assert isinstance(tree, yaml.MappingNode)
    yield from walk(tree, ())


def written(text: str, node: yaml.Node) -> str:
    """Return a value as it is written; a list over several lines in one."""
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return "[…]"
    return " ".join(text[node.start_mark.index : node.end_mark.index].split()) or '""'


def comment(lines: list[str], line: int) -> str:
    """Return the comment of a line, with the lines of comment alone that follow it."""
    found = COMMENT.search(lines[line])
    words = [found[1]] if found else []
    for following in lines[line + 1 :]:
        goes_on = GOES_ON.match(following)
        if not goes_on:
            break
        words.append(goes_on[1])
    return " ".join(words)


def type_of(path: tuple[str, ...]) -> str:
    """Return type and range of a parameter in words; nothing where no class declares it."""
    hint: Any = AllParams
    for depth, name in enumerate(path):
        if depth == 1 and path[0] in ("encoders", "losses"):
            hint = encoder_class(name).Settings if path[0] == "encoders" else loss_parts(name)[0]
            continue
        hint = field(hint, name)
    return in_words(hint) if hint is not None else ""


def field(owner: Any, name: str) -> Any:  # noqa: ANN401
    """Return the annotation of a field of a section or of settings."""
    owner = get_args(owner)[0] if get_origin(owner) is Annotated else owner
    if isinstance(owner, type) and issubclass(owner, BaseModel):
        for own, info in owner.model_fields.items():
            if name in (own, info.alias):
                hints = get_type_hints(owner, include_extras=True)
                return hints[own]
    if is_dataclass(owner):
        return get_type_hints(owner, include_extras=True).get(name)
    return None


def in_words(hint: Any) -> str:  # noqa: ANN401
    """Write a type in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return in_words(inner[0]) + limits(inner[1:])
    if origin is Literal:
        return "one of " + ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(in_words(one) for one in inner if one is not type(None))
    if origin in (list, tuple):
        return f"list of {in_words(inner[0])}s".replace("texts", "text").replace("falses", "false")
    if origin is dict or hint is dict:
        return "mapping"
    return WORDS.get(hint, "section" if isinstance(hint, type) else "")


def limits(metadata: tuple[Any, ...]) -> str:
    """Write a range in words."""
    single = [part for entry in metadata for part in getattr(entry, "metadata", [entry])]
    limit = [
        f"{words} {getattr(part, name):g}"
        for part in single
        for kind, name, words in RANGES
        if isinstance(part, kind)
    ]
    words = " and ".join(limit).replace("at least 0 and at most 1", "from 0 to 1")
    return f", {words}" if limit else ""
