"""Keeps from DVC what it would hang on: it opens whatever lies in a folder to hash it.

In a folder that people fill, such as `feedback/`, pipes, devices and links that lead out are left
out by a `.dvcignore` of that folder, which stays for a bare `dvc repro`. Such a file elsewhere, in
a folder of data, ends the command, because a run without it would be another run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from flows.failure import Failure
from tasks.io.regular_files import boundary, file_faults

NAMED = 10  # files of a message
IGNORED = ".dvcignore"
HEAD = f"# rolecall writes this file: DVC must not open these\n/{IGNORED}\n"


def keep_out_special_files(root: Path) -> list[str]:
    """Look at the folders that sections of `params.yaml` name, such as `feedback.folder`.

    Returns:
        a warning for each file that is left out.

    Raises:
        Failure: a folder of data, or one outside of the clone, holds a pipe or a device.
    """
    refused, left_out = list[str](), list[str]()
    for name in _folders(root / "params.yaml"):
        folder, within = root / name, boundary(Path(name))
        if within and folder.is_dir() and root.resolve() in folder.resolve().parents:
            faults = dict(file_faults(folder, folder))
            _ignore(folder, [path.relative_to(folder).as_posix() for path in faults])
            left_out += [f"warning: {fault}: not read" for fault in faults.values()]
        else:
            refused += dict(file_faults(folder, within and folder)).values()
    if refused:
        advice = "take them out, or put the file itself there"
        raise Failure("\n".join([*_first(refused), advice]))
    return _first(left_out)


def _ignore(folder: Path, names: Sequence[str]) -> None:
    """Let DVC see none of `names`, and not this list itself, which it would refuse."""
    file = folder / IGNORED
    if names:
        content = (HEAD + "".join(f"/{pattern(name)}\n" for name in names)).encode()
        if not (file.is_file() and file.read_bytes() == content):
            partial = file.with_name(f"{IGNORED}.partial")
            partial.write_bytes(content)
            partial.replace(file)
    elif file.is_file() and file.read_bytes().startswith(HEAD.encode()):
        file.unlink()


def pattern(name: str) -> str:
    """Return the line of a `.dvcignore` that means a name; `?` is what no line can hold."""
    return re.sub(r"[^\w./-]", lambda one: _escaped(one[0]), name)


def _escaped(sign: str) -> str:
    if sign == " ":  # DVC strips the line
        return "[ ]"
    return f"\\{sign}" if sign.isprintable() else "?"


def _first(lines: list[str]) -> list[str]:
    more = [f"and {len(lines) - NAMED:,} more"] if len(lines) > NAMED else []
    return [*lines[:NAMED], *more]


def _folders(params: Path) -> list[str]:
    """Return the values of `folder`; DVC itself reports a file that is missing or no YAML."""
    try:
        content = yaml.safe_load(params.read_text(encoding="utf-8"))
    except (FileNotFoundError, yaml.YAMLError):
        return []
    sections = [*content.values()] if isinstance(content, dict) else []
    names = [section.get("folder") for section in sections if isinstance(section, dict)]
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]
