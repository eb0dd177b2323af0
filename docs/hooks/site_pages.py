"""The events of MkDocs: tables made from the code, pages from files beside `docs/`, and links.

A page asks for a table by `{{ answer }}`, and for the columns of a schema of `tasks/io/schemas.py`
by its name in backticks. Both are made at build time, so that no copy of them grows old.
"""

from __future__ import annotations

import inspect
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import yaml
from mkdocs.structure.files import File
from pydantic import TypeAdapter

from tasks.io import schemas

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
COPIED = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md"}
COPIED |= {"changelog.md": "CHANGELOG.md"}
"""Pages of the site, and the files beside `docs/` that they show."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
PARAMETER = re.compile(r"( *)([\w-]+):(?: +|$)((?:[^#]|(?<! )#)*?) *(?:# ?(.*))?$")
TYPES = {"integer": "whole number", "string": "text", "object": "mapping"}
TYPES |= {"number": "number", "boolean": "true or false"}
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most"}
LIMITS |= {"exclusiveMaximum": "below"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List every study in the navigation; `mkdocs.yml` cannot know their names."""
    pages = sorted((ROOT / "docs/results").glob("*.md"))
    studies = [{page.stem.replace("_", " "): f"results/{page.name}"} for page in pages]
    results = next(own["Results"] for own in config.nav or [] if "Results" in own)
    results.append({"Studies": studies})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are no file of `docs/`."""
    for page, source in COPIED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        head = "---\nhide: [navigation]\n---\n" * (page == "index.md")  # it would list itself alone
        files.append(File.generated(config, page, content=head + text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the tables that a page asks for, and let its links lead to pages of the site."""
    name = page.file.src_uri
    markdown = re.sub(r"\{\{ (\w+) \}\}", lambda match: TABLES[match[1]](), markdown)
    if name == "design/files.md":
        markdown = re.sub(r"`([A-Z_]{2,})`", lambda match: columns_of(match[1]), markdown)
    return relinked(markdown, COPIED.get(name, f"docs/{name}"), name)


def relinked(markdown: str, source: str, page: str) -> str:
    """Return the text of the file `source` with its relative links as seen from its page.

    A link to a file that the site does not have becomes its text. A link to no file stays, so that
    a strict build fails. `page` is seen from `docs/`.
    """
    pages = {file: name for name, file in COPIED.items()}

    def link(match: re.Match[str]) -> str:
        image, text, target, anchor = match.groups(default="")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if file not in pages and not file.startswith("docs/"):
            return text if (ROOT / file).exists() else match[0]
        to = pages.get(file, file.removeprefix("docs/"))
        return f"{image}[{text}]({posixpath.relpath(to, posixpath.dirname(page) or '.')}{anchor})"

    return LINK.sub(link, markdown)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; a bar within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def columns_of(name: str) -> str:
    """Write names and types of a schema's columns, or a name that is none, as `SEED`."""
    groups = groupby(vars(schemas).get(name, {}).items(), key=lambda column: str(column[1]))
    parts = [f"{', '.join(own for own, _ in some)}: {kind}" for kind, some in groups]
    return f"`{', '.join(parts) or name}`"


def answer() -> str:
    """Write the columns of an answer, from `Answer`, where each is declared once."""
    from models.serving.answer import Answer, columns

    words = {str: "text", float: "number", bool: "true or false"}
    rows = []
    for name, (kind, is_list, meaning) in columns().items():
        word = f"list of {words[kind].replace('number', 'numbers')}" if is_list else words[kind]
        null = ", may be null" * ("None" in str(inspect.get_annotations(Answer)[name]))
        rows.append((f"`{name}`", word + null, meaning))
    return table(("column", "type", "meaning"), rows)


def cli() -> str:
    """Write what `rolecall COMMAND --help` prints of every command."""
    from flows.cli import app

    group: Any = typer.main.get_command(app)
    parts = [inspect.cleandoc(group.help)]
    for name, command in group.commands.items():
        context = typer.Context(command, info_name=f"rolecall {name}", max_content_width=100)
        parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts)


def stages() -> str:
    """Write the stages of `dvc.yaml`."""
    rows = []
    for name, stage in yaml.safe_load((ROOT / "dvc.yaml").read_text("utf-8"))["stages"].items():
        body = stage.get("do", stage)
        outs = [*body.get("outs", []), *body.get("metrics", [])]
        writes = [out if isinstance(out, str) else next(iter(out)) for out in outs]
        cells = (", ".join(f"`{own}`" for own in some) for some in (body.get("params", []), writes))
        rows.append((f"`{name}`", body["desc"], *cells))
    text = table(("stage", "makes", "parameters", "writes"), rows).replace("${item.seed}", "SEED")
    return text.replace("${item.k}", "K").replace("${key}", "K").replace("${", "{")


def parameters() -> str:
    """Write a table for each section: defaults and comments of `params.yaml`, types of classes."""
    from tasks.check_params import AllParams

    schema, head = AllParams.model_json_schema(), ("name", "default", "type", "meaning")
    parts, rows = list[str](), list[tuple[str, ...]]()
    for path, value, comment in read_parameters((ROOT / "params.yaml").read_text("utf-8")):
        if len(path) == 1 and not value:
            parts += [table(head, rows), f"## {path[0]}", *[comment] * bool(comment)]
            rows = []
        elif value or comment:
            name, kind = ".".join(path[1:] or path), type_of(path, schema) if value else ""
            rows.append((f"`{name}`", f"`{value}`" if value else "", kind, comment))
    return "\n\n".join(["## Above all sections", *parts, table(head, rows)])


def read_parameters(text: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield path, value as written and comment of every name; a comment goes on below its line."""
    above, found = list[tuple[int, str]](), list[tuple[tuple[str, ...], str, str]]()
    for line in text.splitlines():
        if match := PARAMETER.match(line):
            indent, name, value, comment = match.groups(default="")
            above = [*(own for own in above if own[0] < len(indent)), (len(indent), name)]
            found.append((tuple(own for _, own in above), value, comment))
        elif found and line.lstrip() != line:
            path, value, comment = found[-1]
            more_value, _, more = line.strip().partition("# ")
            found[-1] = (path, f"{value} {more_value}".strip(), f"{comment} {more}".strip())
    yield from found


def type_of(path: Sequence[str], schema: Mapping[str, Any]) -> str:
    """Return type and range of a parameter in words; nothing where no class declares it."""
    from models.network.kinds import encoder_class, loss_parts

    node, definitions, rest = dict(schema), schema["$defs"], list(path)
    if path[0] in ("encoders", "losses"):
        kind, is_encoder = path[1], path[0] == "encoders"
        settings = encoder_class(kind).Settings if is_encoder else loss_parts(kind)[0]
        node, rest = TypeAdapter(settings).json_schema(), rest[2:]
    for name in rest:
        node = node.get("properties", {}).get(name, {})
        node = definitions.get(str(node.get("$ref")).rpartition("/")[2], node)
    return in_words(node)


def in_words(node: Mapping[str, Any]) -> str:
    """Write a type of a JSON schema in words."""
    if options := [one for one in node.get("anyOf", []) if one.get("type") != "null"]:
        return " or ".join(map(in_words, options))
    if values := node.get("enum", [node["const"]] if "const" in node else []):
        return "one of " + ", ".join(f"`{value}`" for value in values)
    if node.get("type") == "array":
        inner = in_words(node.get("items") or node.get("prefixItems", [{}])[0])
        return f"list of {inner}s".replace("texts", "text")
    limits = [f"{word} {node[key]:g}" for key, word in LIMITS.items() if key in node]
    words = " and ".join(limits).replace("at least 0 and at most 1", "from 0 to 1")
    return TYPES.get(node.get("type", ""), "") + f", {words}" * bool(limits)


TABLES = {own.__name__: own for own in (answer, cli, parameters, stages)}
