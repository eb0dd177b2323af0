"""The plan of a bulk run, and what is refused before it starts: places, columns, full sheets.

A run with the plan of an earlier run completes its output, or finds it complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from models.serving.answer import PARAMS
from models.serving.answer import columns as answer_columns
from tasks.apps.bulk.inspection import SourceError
from tasks.apps.bulk.source import ROWS, TitleSource
from tasks.apps.unfinished import OutputError, unfinished_at
from tasks.io.bulk_output import FILES, kind_of, manifest_of, refused_of
from tasks.io.command import listed
from tasks.io.files import text_hash

VERSIONS = ("model_version", "taxonomy_version")
"""The parts of a plan that a model tells once it is loaded."""
TEXT = (".tsv", ".txt", ".tab", ".json", ".jsonl", ".ndjson")
BINARY = (".xls", ".xlsm", ".xlsb", ".ods", ".pq", ".feather", ".arrow", ".gz", ".zip")
EXCEL_ROWS, EXCEL_COLUMNS = 1_048_576, 16_384  # of a sheet, the header included


def plan_of(source: TitleSource, address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan of a run, but for `model`, the address of what answers, and its `VERSIONS`.

    `address`: of the input; `options`: those of `rolecall normalize` by name, absent or None if not
    given.
    """
    return {
        "params": {name: options[name] for name in PARAMS if options.get(name) is not None},
        "column": source.column,
        **source.settings,
        "prefix": options.get("prefix", ""),
        "part_rows": ROWS,
        "input": text_hash(address),
    }


def require_place(output: Path, address: str) -> None:
    """Refuse an output that is taken, of another kind, or would replace its input or be read as it.

    `address`: of the input, as fsspec reads it. An OutputError says what to name instead.
    """
    if output.suffix.lower() in TEXT + BINARY:
        raise OutputError(
            f"{output}: no {output.suffix} file can be written; let the name end in "
            f"{', '.join(FILES)}, or have no suffix for a folder of Parquet files"
        )
    system, path = fsspec.core.url_to_fs(address)
    if isinstance(system, LocalFileSystem):
        source, place = Path(path).resolve(), output.resolve()
        beside = [manifest_of(place), refused_of(place)] if kind_of(place) else []
        if any(source.is_relative_to(one) for one in (place, unfinished_at(place), *beside)):
            raise OutputError(f"{output} holds the input {address}: name another output")
        if source.is_dir() and place.is_relative_to(source):
            raise OutputError(
                f"{output} lies in the input folder, all of whose files are read: name an output "
                f"outside of {source}"
            )
    if output.exists() and not manifest_of(output).is_file():
        raise OutputError(f"{output} is there already: name another place, or remove it")


def require_free_names(source: TitleSource, prefix: str, names: Iterable[str]) -> None:
    """Refuse an input that has a column of the answer with a SourceError.

    `names`: of the answer's columns without `prefix`.
    """
    if taken := sorted({f"{prefix}{name}" for name in names} & {*source.schema.names}):
        raise SourceError(
            f"the input has columns of the answer: {listed(taken)}; use --prefix=answer_"
        )


def require_room(output: Path, source: TitleSource) -> None:
    """Refuse a workbook of more rows or columns than Excel opens, with an OutputError.

    Rows of CSV are counted if they may be too many.
    """
    if kind_of(output) != ".xlsx":
        return
    rows, columns = source.rows, len(source.schema) + len(answer_columns())
    if rows > EXCEL_ROWS // 2:  # the length of the first lines may mislead twofold
        parts = (part for file in source.files for part in source.parts(file, lambda row: None))
        rows = sum(len(part) for part in parts)
    if rows >= EXCEL_ROWS or columns > EXCEL_COLUMNS:
        raise OutputError(
            f"{output}: {rows:,} rows of {columns:,} columns, and a sheet of Excel has room for "
            f"{EXCEL_ROWS - 1:,} of {EXCEL_COLUMNS:,}: let the name end in .csv or .parquet"
        )
