"""Figures as tidy CSV: rows of one measurement replaced in `results/EXPERIMENT.csv`, nothing typed.

One row is one figure; `COLUMNS` is the schema. Names are explained in `benchmarks/names.py`.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.whole_file import write_bytes

COLUMNS = (
    "experiment",
    "dataset",
    "system",
    "test",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "seed",
    "machine",
    "command",
)
KEY = ("experiment", "dataset", "test", "system", "metric", "seed")
NUMBERS = ("value", "low", "high")
FOLDER = Path("results")

Row = dict[str, Any]


class ResultsError(ValueError):
    """Rows that do not belong in a results file; the message says what is wrong with them."""


def replace_rows(
    rows: Sequence[Row], folder: Path = FOLDER, *, only_systems: bool = False
) -> list[Path]:
    """Put `rows` in the place of all earlier rows of their (experiment, dataset).

    Args:
        rows: one dict per figure with the keys `COLUMNS`; `low`, `high` and `seed` may be None.
        folder: where `EXPERIMENT.csv` lies.
        only_systems: replace only what the same (experiment, dataset, system) holds, so that
            systems measured at different times can stand in one file.

    Returns:
        The files written.

    Raises:
        ResultsError: a column is missing or unknown, a figure is not finite, a figure stands
            twice, or a path of this machine is in `command` or `machine`.
    """
    width = 3 if only_systems else 2
    tidied = [_tidied(row) for row in rows]
    paths = []
    for experiment in sorted({row["experiment"] for row in tidied}):
        new = [row for row in tidied if row["experiment"] == experiment]
        replaced = {_key(row)[:width] for row in new}
        path = folder / f"{experiment}.csv"
        kept = [row for row in read_rows(path) if _key(row)[:width] not in replaced]
        write_bytes(_csv(_sorted(kept + new)), path)
        paths.append(path)
    return paths


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of one results file as text; none if there is no such file.

    Raises:
        ResultsError: its columns are not `COLUMNS`.
    """
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ResultsError(f"{path}: columns {reader.fieldnames}, expected {list(COLUMNS)}")
        return list(reader)


def rounded(value: float) -> str:
    """Four significant digits, at most four decimals, and no exponent: 0.5372, 12.35, 12346, 3."""
    if float(value).is_integer():
        return str(int(value))
    digits = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(4, max(0, 4 - digits))}f}"


def _key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["experiment"], row["dataset"], row["system"]


def _tidied(row: Row) -> dict[str, str]:
    if set(row) != set(COLUMNS):
        raise ResultsError(f"columns {sorted(row)}, expected {sorted(COLUMNS)}")
    text = {name: "" if row[name] is None else str(row[name]) for name in COLUMNS}
    for name in NUMBERS:
        if row[name] is not None:
            if not math.isfinite(row[name]):
                raise ResultsError(f"{name} = {row[name]} of {_key(text)}: leave the row out")
            text[name] = rounded(row[name])
    here = [os.environ.get("ROLECALL_DATA", ""), str(Path.cwd()), str(Path.home())]
    for path in here:
        # "." and "/" would be found in any text
        if len(path) > 2 and path in text["command"] + text["machine"]:
            raise ResultsError(f"{text['command']!r} holds the path {path}: write $ROLECALL_DATA")
    return text


def _sorted(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        place = tuple(row[name] for name in KEY)
        if place in found:
            raise ResultsError(f"two figures for {place}")
        found[place] = row
    return [found[place] for place in sorted(found)]


def _csv(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
