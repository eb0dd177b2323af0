"""Tables as one file: Parquet, CSV or a workbook."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from models.reproducibility import atomic_write
from tasks.io.formulas import guard, guarded

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

BOM = "\ufeff".encode()  # Excel knows UTF-8 by it
TEMPORARY = "temporary"
BETWEEN = "; "
NO_TEXT = (pl.Binary, pl.Duration)  # types that no cast makes text
MADE = datetime(2000, 1, 1, tzinfo=UTC)  # equal tables give equal bytes
CELL = 32_767  # UTF-16 units
DIGITS = 10**15
FIRST_YEAR = 1900  # of Excel's dates, which have no time zones


def write_tables(schema: pa.Schema, tables: Iterable[pa.Table], path: Path) -> None:
    """Write tables of one schema below one another, whole or not at all; the suffix decides how."""
    with atomic_write(path) as unfinished:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
                for table in tables:
                    writer.write_table(table)
            return
        frames = (readable(table) for table in chain([schema.empty_table()], tables))
        if path.suffix == ".csv":
            _write_csv(frames, unfinished)
            return
        folder = unfinished.with_name(TEMPORARY)
        shutil.rmtree(folder, ignore_errors=True)  # a killed run left it
        folder.mkdir()
        try:
            write_workbook(frames, unfinished, folder)
        finally:
            shutil.rmtree(folder)


def _write_csv(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write UTF-8 with every cell quoted and no formula; the first frame gives the header."""
    with path.open("wb") as file:
        file.write(BOM)
        for number, frame in enumerate(frames):
            texts = [guarded(column) for column in frame if column.dtype == pl.String]
            cells = frame.with_columns(texts).rename(guard)
            cells.write_csv(file, include_header=number == 0, quote_style="always")


def write_workbook(frames: Iterable[pl.DataFrame], path: Path, temporary: Path) -> None:
    """Write frames with equal columns as one sheet, row by row: memory does not grow with them.

    Text is written as text, so no cell is a formula. Whole numbers of more than 15 digits are text
    too, because Excel keeps no more of a number; text is truncated at a cell's 32,767 characters.

    `temporary`: an empty folder for the rows before they are packed.
    """
    from xlsxwriter import Workbook  # takes a tenth of the start of a command

    options = {"constant_memory": True, "use_zip64": True, "tmpdir": str(temporary)}
    with Workbook(str(path), options) as book:
        book.set_properties({"created": MADE})
        bold = book.add_format({"bold": True})
        formats: dict[type, Format] = {
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        sheet, row = book.add_worksheet("answers"), 0
        sheet.freeze_panes(1, 0)
        for frame in frames:
            if row == 0:
                for column, name in enumerate(frame.columns):
                    sheet.write_string(0, column, _truncated(name), bold)
            for cells in frame.iter_rows():
                row += 1
                for column, cell in enumerate(cells):
                    if cell not in (None, ""):
                        _write(sheet, row, column, cell, formats)


def readable(table: pa.Table) -> pl.DataFrame:
    """Return a table as cells that a person reads, without nested types.

    A list is its members with `; ` between them, numbers in it with four decimals; a structure is
    JSON; bytes are Base64. Numbers, truth values and text stay as they are.
    """
    return pl.DataFrame([_column(column) for column in pl.DataFrame(table)])


def _column(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.Array):
        return _column(column.cast(pl.List(kind.inner)))
    if isinstance(kind, pl.List) and not (kind.inner.is_nested() or kind.inner in NO_TEXT):
        members = pl.element().round(4) if kind.inner.is_float() else pl.element()
        return column.list.eval(members.cast(pl.String)).list.join(BETWEEN)
    if kind.is_nested():
        as_json = partial(json.dumps, ensure_ascii=False, default=str)
        texts = [None if cell is None else as_json(cell) for cell in column.to_list()]
        return pl.Series(column.name, texts, pl.String)
    if kind == pl.Duration:
        return column.dt.to_string("iso")
    if kind == pl.Binary:
        return column.bin.encode("base64")
    if kind in (pl.Categorical, pl.Enum, pl.Null):
        return column.cast(pl.String)
    return column


def _write(
    sheet: Worksheet, row: int, column: int, cell: object, formats: Mapping[type, Format]
) -> None:
    is_number = isinstance(cell, int | float | Decimal) and math.isfinite(cell)
    if isinstance(cell, bool):
        sheet.write_boolean(row, column, cell)
    elif is_number and (isinstance(cell, float) or abs(cell) < DIGITS):  # type: ignore[arg-type]
        sheet.write_number(row, column, cell)
    elif isinstance(cell, date) and cell.year >= FIRST_YEAR and not getattr(cell, "tzinfo", None):
        sheet.write_datetime(row, column, cell, formats[type(cell)])
    else:
        sheet.write_string(row, column, _truncated(str(cell)))


def _truncated(text: str) -> str:
    if len(text) <= CELL // 2:
        return text
    return text.encode("utf-16-le")[: 2 * CELL].decode("utf-16-le", "ignore")
