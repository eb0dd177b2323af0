"""A profile: `profiles/NAME.yaml`, the values of `params.yaml` that a data set changes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

Tree = dict[str, Any]
OPEN = ("files", "columns", "systems", "language_weights")
"""Maps whose names the user chooses: replaced whole."""
DEFAULT = "esco"
SAMPLE = "sample"
"""The main tree with `params.yaml` as it stands: no file in `profiles/`, no workspace."""


class ProfileError(ValueError):
    """A profile, a parameter or a file that does not exist; the message says what to change."""


def read_profile(
    folder: Path, name: str, extending: tuple[str, ...] = ()
) -> tuple[Tree, dict[str, str]]:
    """Read a profile's values and its external files: name in `data/external` -> source.

    The values of the profile that it `extends` lie below; `extending` are the profiles above it.

    Raises:
        ProfileError: the profile does not exist, is no YAML, or extends itself.
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
    return _overlaid(base, values), files | external


def merged(base: Mapping[str, Any], overrides: Mapping[str, Any], where: str = "") -> Tree:
    """Put the values of `overrides` over `base`; maps merge name by name, except `OPEN` ones.

    Raises:
        ProfileError: `base` lacks a name, or has a section where `overrides` has a value.
    """
    result = dict(base)
    for name, value in overrides.items():
        address = f"{where}{name}"
        if name not in base:
            near = difflib.get_close_matches(str(name), base, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join(base)}"
            raise ProfileError(f"{address}: unknown parameter; {advice}")
        if isinstance(base[name], dict) != isinstance(value, dict):
            raise ProfileError(f"{address}: {value!r} where params.yaml has {base[name]!r}")
        nested = isinstance(value, dict) and name not in OPEN
        result[name] = merged(base[name], value, f"{address}.") if nested else value
    return result


def _overlaid(below: Tree, above: Tree) -> Tree:
    """Put values over others as `merged` does, whatever their names."""
    both = {
        name: _overlaid(below[name], value)
        for name, value in above.items()
        if name not in OPEN and isinstance(value, dict) and isinstance(below.get(name), dict)
    }
    return {**below, **above, **both}
