"""The challenger that waits for people's replies, and its disputed titles.

An undecided decision leaves its version and its titles (`disputed.py`) in
`data/gate/disputed.json`. Review queues ask people for these (`chosen_by` is `disputed`) until the
version is decided or another network is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tasks.io.frames import Schema, read_json, write_json
from tasks.io.title_readings import normalized

FILE = Path("data/gate/disputed.json")
TITLES: Schema = {
    "raw_title": pl.String,
    "normalized": pl.String,
    "place": pl.UInt32,
    "other_occupation_id": pl.String,
}


def write_waiting(
    root: Path, version: str, sample: Mapping[str, Any] | None, corrects: str | None = None
) -> None:
    """Note the version that waits and its `Disputed` titles.

    Without a bulk run to draw a sample from, the titles stay that it waited with before, or that
    the version that it `corrects` waited with; of another version there are none.
    """
    before = _read(root) or {}
    if sample is None and before.get("version", "") in (version, corrects):
        sample = before
    write_json({"queried": 0, "titles": [], **(sample or {}), "version": version}, root / FILE)


def note_that_none_waits(root: Path) -> None:
    """Note that no version waits for replies below `root`."""
    write_json(None, root / FILE)


def waiting_version(root: Path) -> str | None:
    """Return the version that waits for replies below `root`, if one does."""
    found = _read(root)
    return found.get("version") if found else None


def read_disputed(root: Path) -> pl.DataFrame:
    """Read the disputed titles of the version that waits below `root`, in their order: `TITLES`."""
    found = _read(root)
    rows = pl.DataFrame(
        found["titles"] if found else [],
        schema={"raw_title": pl.String, "other_occupation_id": pl.String},
        orient="row",
    )
    named = rows.with_columns(normalized(rows["raw_title"])).with_row_index("place")
    return named.unique("normalized", keep="first", maintain_order=True).select(list(TITLES))


def _read(root: Path) -> dict[str, Any] | None:
    file = root / FILE
    try:
        return read_json(file) if file.is_file() else None
    except ValueError as error:
        raise ValueError(
            f"{file} is damaged ({error}). Delete it; "
            "no version waits then, until the next retraining is judged"
        ) from error
