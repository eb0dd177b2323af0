"""A profile: `profiles/NAME.yaml`, the values of `params.yaml` that a data set changes.

`read_profile` reads it, over the profile that it extends, if any; `merged` lays it over
`params.yaml`. Checks names and sections; values are checked by the stages
(`tasks/params/whole.py`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

Tree = dict[str, Any]
OPEN = ("files", "columns", "systems")  # maps whose names are not ours: replaced whole


class ProfileError(ValueError):
    """A profile that does not exist or that names what `params.yaml` does not have."""


def read_profile(folder: Path, name: str) -> tuple[Tree, dict[str, str]]:
    """Read a profile's overrides and its outside files: name in `data/external` -> source.

    Of a profile that it names under `extends` it has all that it does not say itself.

    Raises:
        ProfileError: when there is no such profile, with those that there are; it extends itself.
    """
    return _read(folder, name, ())


def _read(folder: Path, name: str, extending: tuple[str, ...]) -> tuple[Tree, dict[str, str]]:
    if name in extending:
        raise ProfileError(f"profile {' extends '.join((*extending, name))}: name another")
    path = folder / f"{name}.yaml"
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if name not in known:
        raise ProfileError(f"no profile {name!r} in {folder}; there are: {', '.join(known)}")
    try:
        overrides = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ProfileError(f"{path} is no YAML: {error}") from error
    external = overrides.pop("external", None) or {}
    if "extends" not in overrides:
        return overrides, external
    below, files = _read(folder, overrides.pop("extends"), (*extending, name))
    return _laid(below, overrides), files | external


def merged(base: Mapping[str, Any], overrides: Mapping[str, Any], where: str = "") -> Tree:
    """Lay the values of `overrides` over `base`; maps merge name by name, except `OPEN` ones.

    Raises:
        ProfileError: for a name that `base` does not have, with the nearest one that it has, and
            for a value where `base` has a section, or the reverse.
    """
    result = dict(base)
    for name, value in overrides.items():
        address = f"{where}{name}"
        if name not in base:
            raise ProfileError(f"{address}: unknown parameter{_nearest(name, base)}")
        if isinstance(base[name], dict) != isinstance(value, dict):
            raise ProfileError(f"{address}: {value!r} where params.yaml has {base[name]!r}")
        nested = isinstance(value, dict) and name not in OPEN
        result[name] = merged(base[name], value, f"{address}.") if nested else value
    return result


def _laid(below: Tree, above: Tree) -> Tree:
    """Lay values over others as `merged` does, whatever their names."""
    both = {
        name: _laid(below[name], value)
        for name, value in above.items()
        if name not in OPEN and isinstance(value, dict) and isinstance(below.get(name), dict)
    }
    return {**below, **above, **both}


def _nearest(name: str, base: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(str(name), base, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(base)}"
