"""Tables whose cells have types, to text: Parquet, JSON Lines, and Excel workbooks.

A cell becomes the text that a table of text would hold. Parquet is read in batches, JSON Lines line
by line; a workbook is in memory, and its first visible sheet that holds cells is read. A row's
text, for rejected rows, is its cells as a CSV line, in JSON Lines the line itself. A new format is
a function here and its line in `READERS`, and its suffix in `source_files.py`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

import polars as pl
import pyarrow as pa
from polars.exceptions import PolarsError
from pyarrow import parquet
from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

from tasks.tables import rejected as reasons
from tasks.tables import source_files
from tasks.tables.delimited import Format
from tasks.tables.header import header_index, header_of
from tasks.tables.rejected import CHUNK, Chunk, RejectedRows, Table, TableRow, escaped, in_chunks
from tasks.tables.source_files import DAMAGED, IngestError, SourceFile
from tasks.tables.text import file_encoding, is_text, text_fault, text_lines

WHOLE_FLOAT = re.compile(r"([-+]?\d+)\.0+")
EXACT = 2**53  # below it a float is one whole number
UNREADABLE = (PolarsError, pa.ArrowException, *DAMAGED)
OBJECTS = 20_000  # of JSON, by which the columns are known
BAD_JSON = "no JSON object in the line"
NEW_MEMBER = f"member that none of the first {OBJECTS:,} lines has"
INSPECTED = 2000  # rows of a sheet by which the header is found


def cell_text(value: object) -> str:
    """Return a value as text: null empty, whole numbers without a fraction, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def whole_number(text: str) -> str:
    """Return `2231` for `2231.0`, as programs write a number beside missing ones; else `text`."""
    match = WHOLE_FLOAT.fullmatch(text)
    return match[1] if match else text


def whole_numbers(texts: Collection[str]) -> dict[str, str]:
    """Map `2231.0` to `2231` if all texts are such, empty ones aside; else each to itself."""
    all_whole = all(WHOLE_FLOAT.fullmatch(text) for text in texts if text)
    return {text: whole_number(text) if all_whole else text for text in texts}


def csv_line(cells: Iterable[str]) -> str:
    """Return cells as the csv module writes them, without a line end."""
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def open_parquet(
    file: SourceFile, _needed: Collection[str], origin: str, rejected: RejectedRows, _form: Format
) -> Table:
    """Read the footer; IngestError, also by chunks, if it is no Parquet or a column is no text."""
    try:
        schema, _ = parquet_schema(file)
    except UNREADABLE as error:
        raise _unreadable(file, error, origin) from None
    rejected.readings[file.name] = "Parquet"
    read = partial(_parquet_chunks, file, schema, origin)
    return Table(file.path, origin, list(schema.names), read)


def parquet_batches(file: SourceFile, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, or all; ArrowException or OSError if it is no readable Parquet."""
    with file.open() as handle, parquet.ParquetFile(handle, pre_buffer=False) as read:
        first = 1
        for batch in read.iter_batches(CHUNK, columns=columns):  # `pre_buffer` keeps what was read
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                try:
                    column.validate(full=True)  # text that is no UTF-8 crashes whoever reads it
                except pa.ArrowInvalid as error:
                    rows = f"rows {first:,} to {first + len(batch) - 1:,}"
                    raise pa.ArrowInvalid(f"column {name!r}, {rows}: {error}") from None
            yield batch
            first += len(batch)


def parquet_schema(file: SourceFile) -> tuple[pa.Schema, int]:
    """Return the columns and the number of rows; errors as `parquet_batches`."""
    with file.open() as handle, parquet.ParquetFile(handle) as read:
        return read.schema_arrow.remove_metadata(), read.metadata.num_rows


def open_json_lines(
    file: SourceFile, _needed: Collection[str], origin: str, rejected: RejectedRows, form: Format
) -> Table:
    """Find the columns, which are the members of the first `OBJECTS` objects, as first used.

    A later object with another member is refused; a missing one is empty. IngestError if no object.
    """
    encoding = file_encoding(file, origin, form.encoding)
    members = dict[str, None]()
    for line in islice(text_lines(file, origin, RejectedRows(), encoding), OBJECTS):
        members |= dict.fromkeys(_object(line) or ())
    if not members:
        raise IngestError(f"{file.path} has no line with a JSON object. {origin}")
    rows = _json_rows(file, origin, rejected, encoding, members)
    return Table(file.path, origin, list(members), partial(in_chunks, rows, list(members)))


def open_workbook(
    file: SourceFile, needed: Collection[str], origin: str, rejected: RejectedRows, _form: Format
) -> Table:
    """Find the header of the first visible sheet that holds cells; IngestError if there is none."""
    sheet, others, rows = _sheet(file, origin)
    beginning = [[cell_text(cell) for cell in row] for row in rows[:INSPECTED]]
    index = header_index(beginning, needed)
    names, notes = header_of(beginning[index], beginning[index + 1 :])
    if above := sum(any(map(str.strip, row)) for row in beginning[:index]):
        notes = [f"{above} row{'s' * (above > 1)} above the header left out", *notes]
    if others:
        notes = [f"sheet {sheet!r}; not read: {', '.join(map(repr, others))}", *notes]
    rejected.readings[file.name] = "; ".join(["Excel", *notes])
    below = _sheet_rows(rows, index + 1, len(names))
    return Table(file.path, origin, names, partial(in_chunks, below, names), notes)


READERS = {  # by suffix
    **dict.fromkeys(source_files.PARQUET, open_parquet),
    **dict.fromkeys(source_files.JSON_LINES, open_json_lines),
    **dict.fromkeys(source_files.WORKBOOKS, open_workbook),
}


def _parquet_chunks(
    file: SourceFile, schema: pa.Schema, origin: str, columns: Mapping[str, str]
) -> Iterator[Chunk]:
    theirs = list(dict.fromkeys(columns.values()))
    kinds = pl.DataFrame(schema.empty_table().select(theirs)).schema
    for name, kind in kinds.items():
        if kind.is_nested() or kind == pl.Binary:
            raise IngestError(f"{file.path}: column {name!r} is {kind}, not text. {origin}")
    texts = [_as_text(column, kinds[column]).alias(ours) for ours, column in columns.items()]
    first = 1
    try:
        for batch in parquet_batches(file, theirs):
            values = pl.DataFrame(batch).select(texts)
            lines = pl.int_range(first, first + len(values), dtype=pl.UInt32, eager=True)
            yield Chunk(parquet_places(values, lines), values)
            first += len(values)
    except UNREADABLE as error:
        raise _unreadable(file, error, origin) from None


def parquet_places(values: pl.DataFrame, lines: pl.Series) -> pl.DataFrame:
    """Return `places` of a chunk: its rows' numbers, their values as CSV, and their faults."""
    every = pl.all()
    quoted = '"' + every.str.replace_all('"', '""', literal=True) + '"'
    csv_cells = pl.when(every.str.contains('[,"\r\n]')).then(quoted).otherwise(every)
    nul = pl.any_horizontal(every.str.contains("\x00", literal=True))
    blank = ~pl.any_horizontal(every.str.strip_chars() != "")
    bad, empty = pl.lit(reasons.BAD_CHARACTERS), pl.lit(reasons.EMPTY_ROW)
    return values.select(
        lines.alias("line"),
        pl.concat_str(csv_cells, separator=",").alias("text"),
        fault=pl.when(nul).then(bad).when(blank).then(empty),
    )


def _as_text(column: str, kind: pl.DataType) -> pl.Expr:
    """Write a column as text, null empty and whole floats as `cell_text` does."""
    values = pl.col(column)
    text = values.cast(pl.String)
    if kind.is_float():
        whole = (values == values.floor()) & (values.abs() < EXACT)
        number = values.cast(pl.Int64, strict=False).cast(pl.String)
        text = pl.when(whole).then(number).otherwise(text)
    return text.fill_null("")


def _unreadable(file: SourceFile, error: Exception, origin: str) -> IngestError:
    return IngestError(f"{file.path} is no readable Parquet file ({error}). {origin}")


def _json_rows(
    file: SourceFile, origin: str, rejected: RejectedRows, encoding: str, members: dict[str, None]
) -> Iterator[TableRow]:
    lines = text_lines(file, origin, rejected, encoding)
    for number, line in enumerate(lines, start=1):
        if number == 1:
            rejected.readings[file.name] += ", JSON Lines"
        text, values, cells, fault = line.rstrip("\r\n"), _object(line), None, None
        if not text.strip():
            fault = reasons.EMPTY_ROW
        elif values is None:
            fault = BAD_JSON if is_text(text) else reasons.BAD_CHARACTERS
        elif not is_text("".join([*values, *map(cell_text, values.values())])):
            fault = reasons.BAD_CHARACTERS
        elif not values.keys() <= members.keys():
            fault = NEW_MEMBER
        else:
            cells = [cell_text(values.get(name)) for name in members]
        yield number, escaped(text), cells, fault


def _object(line: str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _sheet(file: SourceFile, origin: str) -> tuple[str, list[str], list[Sequence[object]]]:
    """Return the first visible sheet with cells: its name, those of such others, its rows."""
    try:
        with file.open() as handle, CalamineWorkbook.from_filelike(handle) as book:
            filled = [
                sheet
                for meta in book.sheets_metadata
                if meta.visible == SheetVisibleEnum.Visible
                and (sheet := book.get_sheet_by_name(meta.name)).end is not None
            ]
            rows = list[Sequence[object]](filled[0].iter_rows()) if filled else []
    except PasswordError:
        raise IngestError(f"{file.path} has a password: save it without one. {origin}") from None
    except (CalamineError, *DAMAGED) as error:
        raise IngestError(f"{file.path} is no readable workbook: {error}. {origin}") from None
    while rows and not any(cell_text(cell).strip() for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise IngestError(f"{file.path} has no sheet with cells. {origin}")
    return filled[0].name, [sheet.name for sheet in filled[1:]], rows


def _sheet_rows(
    rows: Sequence[Sequence[object]], header_row: int, width: int
) -> Iterator[TableRow]:
    """Yield the rows below the header, which is in row `header_row`, counted from 1."""
    for number, row in islice(enumerate(rows, start=1), header_row, None):
        cells = [cell_text(cell) for cell in row]
        is_wide = "".join(cells[width:]).strip()
        fault = text_fault("".join(cells)) or (reasons.BAD_WIDTH if is_wide else None)
        text = csv_line(cells if any(cells[width:]) else cells[:width])
        yield number, text, None if fault else cells[:width], fault
