"""The table of files between stages, from `data_files.py` and `network_files.py`.

`python docs/hooks/files_table.py` writes it between the markers of `docs/design/files.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby, product
from pathlib import Path

import polars as pl
from data_files import DATA_FILES
from network_files import NETWORK_FILES
from reference_tables import table

PAGE = Path(__file__).parents[1] / "design/files.md"
BEGIN, END = "<!-- files:begin -->", "<!-- files:end -->"
FILES = (*DATA_FILES, *NETWORK_FILES)


def files_table() -> str:
    """Write the table."""
    rows = []
    for file in FILES:
        holds = columns(file.holds) if isinstance(file.holds, Mapping) else file.holds
        words = "; ".join(filter(None, (holds, file.meaning)))
        paths = ", ".join(f"`data/{path}`" for path in spelled(file.path))
        rows.append((paths, file.stage, words))
    return table(("file", "written by", "holds"), rows)


def spelled(path: str) -> Iterator[str]:
    """Yield every path that ``{a,b}`` stands for."""
    parts = [part.split(",") for part in re.split(r"\{(.*?)\}", path)]
    yield from map("".join, product(*parts))


def columns(schema: Mapping[str, type[pl.DataType] | pl.DataType]) -> str:
    """Write names and types; neighbours of one type share it."""
    groups = groupby(schema.items(), key=lambda column: type_name(column[1]))
    written = (f"{', '.join(name for name, _ in own)}: {kind}" for kind, own in groups)
    return f"`{', '.join(written)}`"


def type_name(kind: object) -> str:
    """Write a type without the name of its library."""
    return f"List({type_name(kind.inner)})" if isinstance(kind, pl.List) else str(kind)


def renewed(text: str) -> str:
    """Return the page with the table between its markers.

    Raises:
        ValueError: a marker is missing, or stands there twice.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{PAGE} needs {BEGIN} and, after it, {END}, once each")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{files_table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
