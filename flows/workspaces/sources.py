"""Finds a profile's external files, and checks that its workspace holds the files it names.

A source under `external:` is an absolute path, an address, a path relative to the main tree (it
begins with `./`), or one below `$ROLECALL_DATA`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

OWN_FILE = "To use a file of your own, name it in the profile by its absolute path"


class ExternalError(RuntimeError):
    """External data are missing; the message says what to set and where to get them."""


def resolve_sources(external: Mapping[str, str], data: str | None, main: Path) -> dict[str, str]:
    """Return name -> absolute path or address.

    Args:
        external: as in a profile.
        data: the value of ROLECALL_DATA.
        main: the main tree.

    Raises:
        ExternalError: `data` is needed and not set, or a file or folder does not exist.
    """
    return {name: _resolve(name, path, data, main) for name, path in external.items()}


def _resolve(name: str, path: str, data: str | None, main: Path) -> str:
    if "://" in path:
        return path
    if Path(path).is_absolute() or path.startswith("./"):
        source = (main / path).resolve()
        if not source.exists():
            raise ExternalError(
                f"no file or folder {source}: correct the line `{name}: {path}` under `external:` "
                "of the profile, or put the file there"
            )
        return str(source)
    if not data:
        raise ExternalError(
            f"{path} is needed: set ROLECALL_DATA to the folder (or address) that holds it; "
            f"docs/SOURCES.md says where to get it. {OWN_FILE}"
        )
    if "://" in data:
        return f"{data.rstrip('/')}/{quote(path)}"
    source = (main / data / path).resolve()
    if not source.exists():
        raise ExternalError(
            f"no file or folder {source}; ROLECALL_DATA is {data!r}; docs/SOURCES.md says where to "
            f"get {path}. {OWN_FILE}"
        )
    return str(source)


def require_files(workspace: Path, params: Mapping[str, Any], main: Path) -> None:
    """Refuse a profile that names a file which the workspace does not hold.

    Args:
        workspace: the files of HEAD and the imported ones.
        params: `params.yaml` with the profile's values.
        main: the main tree, whose untracked files no workspace sees.

    Raises:
        ExternalError: with the lines that bring the file.
    """
    for parameter, file in _named_files(params):
        if (workspace / file).exists():
            continue
        name = Path(file).name
        here = (main / file).is_file()
        raise ExternalError(
            f"{parameter} names {file}, which the profile's workspace does not hold"
            + (", only this clone, uncommitted" if here else "")
            + f". To bring it, write in the profile\n  external: {{{name}: "
            + (f"./{file}" if here else "/path/to/it")
            + f"}}\nand name it as data/external/{name} (ingest: folder: data/external)"
        )


def _named_files(params: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """List the parameters of `ingest` and `synonyms` that name external files."""
    ingest, synonyms = params.get("ingest", {}), params.get("synonyms", {})
    for name, file in ingest.get("taxonomy", {}).get("files", {}).items():
        yield f"ingest.taxonomy.files.{name}", f"{ingest['folder']}/{file}"
    if file := ingest.get("inputs", {}).get("file"):
        yield "ingest.inputs.file", f"{ingest['folder']}/{file}"
    if file := synonyms.get("file"):
        yield "synonyms.file", file
