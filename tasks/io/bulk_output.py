"""The output of `rolecall normalize`: one file or a folder of parts, with a manifest.

The suffix decides: `NAME.parquet`, `NAME.csv` and `NAME.xlsx` are files, whose manifest and refused
rows lie beside them; a name without a suffix is a folder of Parquet parts, which holds both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
from python_calamine import CalamineWorkbook

from tasks.io.formulas import guard, unguarded

MANIFEST = "manifest.json"  # it is written last
SHEET_ROWS = 1 << 16  # of a workbook, read at once
FILES = (".parquet", ".csv", ".xlsx")  # suffixes of single files


def kind_of(path: Path) -> str:
    """Return the suffix of a single file; empty for a folder."""
    suffix = path.suffix.lower()
    return suffix if suffix in FILES and not path.is_dir() else ""


def manifest_of(path: Path) -> Path:
    """Return where the manifest of an output lies."""
    return path.with_name(f"{path.name}.{MANIFEST}") if kind_of(path) else path / MANIFEST


def refused_of(path: Path) -> Path:
    """Return where the rows lie that could not be read, if there are any."""
    if kind_of(path):
        return path.with_name(f"{path.stem}.refused{path.suffix}")
    return path / "refused.parquet"


def parts_of(path: Path, manifest: Mapping[str, Any]) -> list[Path]:
    """Return the files that hold the rows, in order."""
    return [path] if kind_of(path) else [path / part["name"] for part in manifest["parts"]]


def scanned(files: Sequence[Path], columns: Sequence[str]) -> pl.LazyFrame:
    """Scan columns of some files of one output; but in Parquet all are text, an empty cell null."""
    kind = files[0].suffix.lower()
    if kind == ".parquet":
        return pl.scan_parquet(list(files), glob=False).select(columns)
    if kind == ".xlsx":
        return pl.concat(_sheet(files[0], columns)).lazy()
    names = {guard(name): name for name in columns}
    cells = pl.scan_csv(files[0], infer_schema=False, glob=False).select(list(names))
    texts = pl.all().replace("", None).map_batches(unguarded, pl.String)
    return cells.rename(names).with_columns(texts)


def _sheet(path: Path, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield columns of a workbook's one sheet as text; the first frame has no row."""
    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows()
    header = [str(cell) for cell in next(rows)]
    positions, schema = [header.index(name) for name in columns], dict.fromkeys(columns, pl.String)
    yield pl.DataFrame(schema=schema)
    while batch := [[_text(row[n]) for n in positions] for row in islice(rows, SHEET_ROWS)]:
        yield pl.DataFrame(batch, schema, orient="row")


def _text(cell: object) -> str | None:
    if isinstance(cell, bool):
        return str(cell).lower()
    return None if cell == "" else str(cell)
