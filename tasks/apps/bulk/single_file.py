"""Tables as one file: Parquet, CSV or a workbook."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from models.reproducibility.atomic_write import atomic_write
from tasks.apps.bulk.readable import readable
from tasks.apps.bulk.workbook_output import write_workbook
from tasks.io.formulas import guard, guarded

BOM = "\ufeff".encode()  # Excel knows UTF-8 by it
TEMPORARY = "temporary"


def write_tables(schema: pa.Schema, tables: Iterable[pa.Table], path: Path) -> None:
    """Write tables of one schema below one another, whole or not at all; the suffix decides how."""
    with atomic_write(path) as partial:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
                for table in tables:
                    writer.write_table(table)
            return
        frames = (readable(table) for table in chain([schema.empty_table()], tables))
        if path.suffix == ".csv":
            _write_csv(frames, partial)
        else:
            _write_workbook(frames, partial)


def _write_csv(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write UTF-8 with every cell quoted and no formula; the first frame gives the header."""
    with path.open("wb") as file:
        file.write(BOM)
        for number, frame in enumerate(frames):
            texts = [guarded(column) for column in frame if column.dtype == pl.String]
            cells = frame.with_columns(texts).rename(guard)
            cells.write_csv(file, include_header=number == 0, quote_style="always")


def _write_workbook(frames: Iterable[pl.DataFrame], path: Path) -> None:
    folder = path.with_name(TEMPORARY)
    shutil.rmtree(folder, ignore_errors=True)  # a killed run left it
    folder.mkdir()
    try:
        write_workbook(frames, path, folder)
    finally:
        shutil.rmtree(folder)
