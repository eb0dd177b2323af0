"""Which columns of a table hold raw titles: those that are named, or one by its name and values.

A profile names the column of its own raw titles, which is taken where a table has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tasks.tables.header import holds_names, one_line
from tasks.tables.honorifics import are_honorifics

TITLES = ("raw title", "job title", "jobtitle", "title", "position title", "position")
"""Names of the column, the surest first, where none is named; case and ``_`` do not count."""


class NoTitles(ValueError):
    """No column holds titles, or several may; the message says which there are."""


def title_columns(
    values: Mapping[str, Sequence[str]],
    named: Sequence[str],
    described: str,
    *,
    sure_of_names: bool,
    usual: str = "",
) -> list[str]:
    """Return the columns of titles, in the order of `named`, or else the one found.

    `values`: the first ones of each column that may hold text; `described`: all columns, for
    messages; `sure_of_names`: the header cannot be a row, so an only column needs no known name;
    `usual`: the column that is taken if none is named and the table has it.

    Raises:
        NoTitles: a named column is missing, or none is named and no name and its values tell.
    """
    if named:
        return [_as_written(name, values, described) for name in named]
    if usual in values:
        return [usual]
    by_name = {_words(name): name for name in reversed(list(values))}
    known = [by_name[title] for title in TITLES if title in by_name]
    fitting = [name for name in known if _may_hold_titles(values[name])]
    if fitting:
        return fitting[:1]
    if len(values) == 1 and sure_of_names and not known:
        return list(values)
    if not holds_names(list(values)):
        raise NoTitles(
            f"the first line looks like a row and no header: {described}; put the columns' names "
            "above the rows"
        )
    raise NoTitles(
        f"which column holds the titles? It has {described}; name it: --column. If that is a row, "
        "put the columns' names above it"
    )


def usual_column(root: Path) -> str:
    """Return the column of raw titles in the data of `root`, or of its profile; empty: unknown."""
    file = root / "params.yaml"
    text = file.read_text(encoding="utf-8") if file.is_file() else "{}"
    section: dict[str, Any] = yaml.safe_load(text)
    for key in ("ingest", "inputs", "columns"):
        section = section.get(key, {})
    return str(section.get("raw_title", ""))


def _as_written(name: str, columns: Mapping[str, object], described: str) -> str:
    """Return a named column as the header has it: a line break counts as a space."""
    alike = [one for one in columns if one == name] or [
        one for one in columns if one_line(one) == one_line(name)
    ]
    if not alike:
        raise NoTitles(f"no column {name!r}, but {described}")
    return alike[0]


def _words(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.strip().casefold()))


def _may_hold_titles(values: Sequence[str]) -> bool:
    filled = [value for value in values if value.strip()]
    wordy = sum(any(map(str.isalpha, value)) for value in filled)
    return 2 * wordy >= len(filled) and not (filled and are_honorifics(filled))
