"""The output of `rolecall normalize`: one file or a folder of parts, with a manifest.

The suffix decides: `NAME.parquet`, `NAME.csv` and `NAME.xlsx` are files, whose manifest and refused
rows lie beside them; a name without a suffix is a folder of Parquet parts, which holds both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tasks.io.formulas import guard, unguarded

MANIFEST = "manifest.json"  # it is written last
FILES = (".parquet", ".csv", ".xlsx")
"""Suffixes of single files."""


def kind_of(place: Path) -> str:
    """Return the suffix of a single file; empty for a folder."""
    suffix = place.suffix.lower()
    return suffix if suffix in FILES and not place.is_dir() else ""


def manifest_of(place: Path) -> Path:
    """Return where the manifest of an output lies."""
    return place.with_name(f"{place.name}.{MANIFEST}") if kind_of(place) else place / MANIFEST


def refused_of(place: Path) -> Path:
    """Return where the rows lie that could not be read, if there are any."""
    if kind_of(place):
        return place.with_name(f"{place.stem}.refused{place.suffix}")
    return place / "refused.parquet"


def parts_of(place: Path, manifest: Mapping[str, Any]) -> list[Path]:
    """Return the files that hold the rows, in order."""
    return [place] if kind_of(place) else [place / part["name"] for part in manifest["parts"]]


def scanned(files: Sequence[Path], columns: Sequence[str]) -> pl.LazyFrame:
    """Scan columns of some files of one output; in CSV all are text, and an empty cell is null.

    Raises:
        ValueError: they are workbooks.
    """
    kinds = {path.suffix.lower() for path in files}
    if ".xlsx" in kinds:
        raise ValueError(
            f"{files[0]} is a workbook: normalize the same input into a .csv or .parquet file, or "
            "into a folder; the answers are cached, so it takes a moment"
        )
    if ".csv" not in kinds:
        return pl.scan_parquet(list(files), glob=False).select(columns)
    names = {guard(name): name for name in columns}
    cells = pl.scan_csv(list(files), infer_schema=False, glob=False).select(list(names))
    texts = pl.all().replace("", None).map_batches(unguarded, pl.String)
    return cells.rename(names).with_columns(texts)
