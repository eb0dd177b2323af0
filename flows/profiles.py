"""A profile, `profiles/NAME.yaml`: what a data set changes in `params.yaml`, and its files.

A source under `external:` is an absolute path, an address, a path relative to the main tree (it
begins with `./`), or one below `$ROLECALL_DATA`. DVC imports it as `data/external/NAME`. The import
`data/NAME.dvc` holds its path and stays untracked, beside the folder, not in it: a stage that
depends on the folder then has the same checksum wherever the files came from.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from flows.environment import stage_environment
from flows.processes import Show
from tasks.io.regular_files import file_faults
from tasks.io.tracking import masked, masked_user

Tree = dict[str, Any]
OPEN = ("files", "columns", "systems", "language_weights")  # names the user chooses: replaced whole
DEFAULT = "esco"
SAMPLE = "sample"  # `params.yaml` as it stands: no file in `profiles/`, no workspace
FOLDER = Path("data/external")
SECRET = re.compile(  # the beginning of a query that opens what is closed to others
    r"(?i)[?&](x-amz-|x-goog-|sig=|[^=&]*(token|key|secret|passw|signature)[^=&]*=)"
)
UNREADABLE = re.compile(r"[/:\\]|^\.*$")  # in a path that DVC is given
LONGEST = 240  # bytes of a name, which gets the ending .dvc
OWN_FILE = "To use a file of your own, name it in the profile by its absolute path"


class ProfileError(ValueError):
    """A profile, a parameter or a file that does not exist; the message says what to change."""


def read_profile(
    folder: Path, name: str, extending: tuple[str, ...] = ()
) -> tuple[Tree, dict[str, str]]:
    """Read a profile's values and its external files: name in `data/external` -> source.

    The values of the profile that it `extends` lie below; `extending` are the profiles above it. A
    ProfileError says that the profile does not exist, is no YAML, or extends itself.
    """
    if name in extending:
        raise ProfileError(f"profile {' extends '.join((*extending, name))}: name another")
    path = folder / f"{name}.yaml"
    names = sorted(file.stem for file in folder.glob("*.yaml"))
    if name not in names:
        raise ProfileError(f"no profile {name!r} in {folder}; there are: {', '.join(names)}")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ProfileError(f"{path} is no YAML: {error}") from error
    external = values.pop("external", None) or {}
    if "extends" not in values:
        return values, external
    base, files = read_profile(folder, values.pop("extends"), (*extending, name))
    return merged(base, values, strict=False), files | external


def merged(
    base: Mapping[str, Any], overrides: Mapping[str, Any], where: str = "", *, strict: bool = True
) -> Tree:
    """Put the values of `overrides` over `base`; maps merge name by name, except `OPEN` ones.

    If `strict`, a ProfileError says that `base` lacks a name, or has a section in place of a value.
    """
    result = dict(base)
    for name, value in overrides.items():
        address, is_map = f"{where}{name}", isinstance(value, dict)
        if strict and name not in base:
            near = difflib.get_close_matches(str(name), base, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(base)}"
            raise ProfileError(f"{address}: unknown parameter; {advice}")
        if strict and isinstance(base[name], dict) != is_map:
            raise ProfileError(f"{address}: {value!r} where params.yaml has {base[name]!r}")
        nested = is_map and name not in OPEN and isinstance(base.get(name), dict)
        result[name] = merged(base[name], value, f"{address}.", strict=strict) if nested else value
    return result


def resolve_sources(external: Mapping[str, str], data: str | None, main: Path) -> dict[str, str]:
    """Return name -> absolute path or address, of the sources (name -> source) in a profile.

    `data` is the value of ROLECALL_DATA: a folder (relative to the main tree) or the beginning of a
    URL, of which only some kinds (s3, ssh, not http) have folders.

    A ProfileError says that `data` is needed and not set, a file or folder does not exist or holds
    a pipe or a device, DVC cannot read a name, or an address holds a password.
    """
    for name in map(str, external):
        if UNREADABLE.search(name) or len(name.encode()) > LONGEST:
            raise ProfileError(
                f"external: {name[:80]!r} is no name in {FOLDER}: choose one of up to {LONGEST} "
                "bytes without / : and \\"
            )
    sources = {name: _resolve(name, path, data, main) for name, path in external.items()}
    for name, source in sources.items():
        if "://" in source and (masked_user(source) != source or SECRET.search(source)):
            raise ProfileError(
                f"the address {masked(source)} of {name} holds a password or a token, which DVC "
                "would keep in a file: take it out, and give it to DVC by the variables of your "
                "storage (AWS_ACCESS_KEY_ID ...), or by `dvc remote add --local NAME ADDRESS` and "
                f"`dvc remote modify --local NAME password ...`; then write remote://NAME/{name}"
            )
    return sources


def _resolve(name: str, path: str, data: str | None, main: Path) -> str:
    if "://" in path:
        return path
    named_whole = Path(path).is_absolute() or path.startswith("./")
    if not named_whole and not data:
        raise ProfileError(
            f"{path} is needed: set ROLECALL_DATA to the folder (or address) that holds it; "
            f"docs/SOURCES.md says where to get it. {OWN_FILE}"
        )
    if not named_whole and "://" in str(data):
        return f"{str(data).rstrip('/')}/{quote(path)}"
    source = (main / path if named_whole else main / str(data) / path).resolve()
    if source.exists():
        if fault := next((fault for _, fault in file_faults(source)), ""):
            raise ProfileError(f"{name} cannot be imported: {fault}; take it out")
        return str(source)
    advice = f"; ROLECALL_DATA is {data!r}; docs/SOURCES.md says where to get {path}. {OWN_FILE}"
    if named_whole:
        advice = f": correct the line `{name}: {path}` under `external:`, or put the file there"
    raise ProfileError(f"no file or folder {source}{advice}")


def import_external(
    workspace: Path, external: Mapping[str, str], data: str | None, main: Path, show: Show
) -> None:
    """Import each external file or folder, or update it; ProfileError as `resolve_sources`."""
    sources = resolve_sources(external, data, main)
    (workspace / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        show(f"import {name}")
        stage = workspace / FOLDER.with_name(f"{name}.dvc")
        imported = yaml.safe_load(stage.read_text(encoding="utf-8")) if stage.exists() else None
        if not imported or imported["deps"][0]["path"] != source:
            output = {"path": f"{FOLDER.name}/{name}"}
            stub = {"frozen": True, "deps": [{"path": source}], "outs": [output]}
            stage.write_text(yaml.safe_dump(stub), encoding="utf-8")
        update = [sys.executable, "-m", "dvc", "--wait-for-lock", "update", "--quiet", str(stage)]
        own = stage_environment()
        subprocess.run(update, cwd=workspace, env=own, check=True, capture_output=True, text=True)


def require_files(workspace: Path, params: Mapping[str, Any], main: Path) -> None:
    """Refuse parameters that name a file neither in HEAD nor imported, with lines that bring it."""
    for parameter, file in _named_files(params):
        if (workspace / file).exists():
            continue
        name, section = Path(file).name, parameter.partition(".")[0]
        is_here = (main / file).is_file()
        where = ", only this clone, uncommitted" * is_here
        source = f"./{file}" if is_here else "/path/to/it"
        raise ProfileError(
            f"{parameter} names {file}, which the profile's workspace does not hold{where}. To "
            f"bring it, write in the profile\n  external: {{{name}: {source}}}\nand name it as "
            f"{name} ({section}: folder: data/external)"
        )


def _named_files(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List the parameters of `ingest` and `synonyms` that name external files."""
    ingest, synonyms = params.get("ingest", {}), params.get("synonyms", {})
    for name, file in ingest.get("taxonomy", {}).get("files", {}).items():
        yield f"ingest.taxonomy.files.{name}", f"{ingest['folder']}/{file}"
    inputs = ingest.get("inputs", {})
    for name, named, section in (("ingest.inputs", inputs, ingest), ("synonyms", *[synonyms] * 2)):
        files = named.get("file") or []
        for file in [files] if isinstance(files, str) else files:
            yield f"{name}.file", f"{section['folder']}/{file}"
