"""The commands and their options, from the application itself."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import typer
from reference_tables import table

from flows.cli import app

HEAD = "# Command line\n"


def cli_page(root: Path) -> str:
    """Write the page: a heading for each command."""
    group: Any = typer.main.get_command(app)
    pages = (command_text(name, command) for name, command in group.commands.items())
    return "\n\n".join([HEAD + "\n" + prose(group.help), *pages]) + "\n"


def command_text(name: str, command: Any) -> str:  # noqa: ANN401
    """Write one command: usage, text, options."""
    words, rows = [], []
    for param in command.params:
        argument = param.param_type_name == "argument"
        several = "…" * (param.nargs == -1)
        label = param.name.upper() + several if argument else ", ".join(option_names(param))
        if argument:
            words.append(label)
        rows.append((f"`{label}`", default_of(param), getattr(param, "help", "") or ""))
    usage = " ".join(["rolecall", name, *words, "[OPTIONS]"])
    parts = [f"## {name}", f"```text\n{usage}\n```", prose(command.help)]
    if rows:
        parts.append(table(("argument or option", "default", "meaning"), rows))
    return "\n\n".join(parts)


def option_names(param: Any) -> list[str]:  # noqa: ANN401
    """List an option's names, those that switch it off last."""
    return [*param.opts, *param.secondary_opts]


def default_of(param: Any) -> str:  # noqa: ANN401
    """Write a default; nothing where there is none."""
    if param.required:
        return "required"
    value = None if callable(param.default) else param.default
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value in (None, "", ()) else f"`{value}`"


def prose(text: str | None) -> str:
    """Write a help text; a block that click keeps as it is becomes code."""
    blocks = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(map(block_text, blocks))


def block_text(block: str) -> str:
    r"""Write one block; ``\b`` begins one whose lines are kept."""
    if not block.startswith("\b"):
        return block
    first, *lines = block.strip("\b\n").splitlines()
    kept = "\n".join(re.sub(r"^ {2}", "", line) for line in lines)
    return f"{first}\n\n```text\n{kept}\n```"
