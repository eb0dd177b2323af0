"""The beginning of a table: its columns, those of titles, and how many rows it may have."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import NamedTuple

import polars as pl
import pyarrow as pa

from tasks.apps.bulk.files import File, SourceError, partition
from tasks.apps.bulk.title_columns import NoTitles, title_columns
from tasks.tables.json_lines import OBJECTS
from tasks.tables.parquet import parquet_batches, parquet_schema
from tasks.tables.read_table import open_table
from tasks.tables.records import Format
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import JSON_LINES, PARQUET, SourceFile

INSPECTED = 1000  # rows whose values are looked at
SHOWN = 80  # characters of the columns' names in a remark


class WithoutTitles(SourceError):
    """A table without a column of titles; `remark` says so of one file among others."""

    def __init__(self, message: str, remark: str) -> None:
        super().__init__(message)
        self.remark = remark


class Inspected(NamedTuple):
    """A table of a file as its beginning shows it."""

    table: SourceFile
    file: File
    schema: pa.Schema
    columns: list[str]  # that hold titles
    rows: int
    notes: list[str]

    @property
    def is_parquet(self) -> bool:
        """Tell whether its columns have types of their own."""
        return self.table.suffix in PARQUET


def inspected(
    table: SourceFile, file: File, named: Sequence[str], form: Format, usual: str = ""
) -> Inspected:
    """Read the beginning of a table; of Parquet the footer, of a workbook all of it.

    `named`, `usual`: columns of titles, see `title_columns`.

    Raises:
        SourceError: it has no header, a column twice, or no column of titles.
        IngestError, ArrowException, or one of `packed.DAMAGED`: it is not readable.
    """
    if table.suffix in PARQUET:
        schema, rows = parquet_schema(table)
        texts = [field.name for field in schema if _is_text(field.type)]
        first = next(parquet_batches(table, texts), None)
        values = pl.DataFrame(first if first is not None else schema.empty_table().select(texts))
        notes, sure = list[str](), True
    else:
        lines = OBJECTS if table.suffix in JSON_LINES else 1
        beginning = table.beginning(lines) if table.is_text else table
        opened = open_table(beginning, named, "", RejectedRows(), form)
        schema, notes = pa.schema([(name, pa.string()) for name in opened.names]), opened.notes
        _require_header(opened.names, table.path)
        chunk = next(opened.chunks({name: name for name in opened.names}), None)
        nothing = pl.DataFrame(schema=dict.fromkeys(opened.names, pl.String))
        values = chunk.good if chunk else nothing
        rows = _estimated_rows(beginning, file.size) if table.is_text else len(values)
        sure = not table.is_delimited
    beginning_values = values.head(INSPECTED).cast(pl.String).fill_null("")
    try:
        columns = title_columns(
            {name: beginning_values[name].to_list() for name in beginning_values.columns},
            named,
            described(schema),
            sure_of_names=sure,
            usual=usual,
        )
    except NoTitles as error:
        message = f"{table.name}: {_not_text(schema, named) or error}"
        names = shorten(", ".join(schema.names), SHOWN, placeholder=" ...")
        remark = f"{table.name}, which has no column of titles ({names})"
        raise WithoutTitles(message, remark) from None
    return Inspected(table, file, schema, columns, rows, notes)


def only_kind(seen: Sequence[Inspected], address: str) -> pa.Schema:
    """Return the columns of all tables, in the order of the first.

    Raises:
        SourceError: some are Parquet and others are not, or they differ in their columns.
    """
    if len({one.is_parquet for one in seen}) > 1:
        raise SourceError(f"{address} holds Parquet and text: name a folder with one of them")
    first = seen[0]
    for one in seen[1:]:
        same = sorted(one.schema.names) == sorted(first.schema.names)
        if not same or partition(one.file.name).keys() != partition(first.file.name).keys():
            raise SourceError(
                f"{one.table.path} has the columns {described(one.schema)}, {first.table.name} has "
                f"{described(first.schema)}: files of one run have the same"
            )
    fields = []
    for field in first.schema:
        types = [one.schema.field(field.name).type for one in seen]
        fields.append(_one_type(field, types, first.columns))
    return pa.schema(fields)


def described(schema: pa.Schema) -> str:
    """List columns with their types, for a message."""
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def _one_type(field: pa.Field, types: Sequence[pa.DataType], titles: Sequence[str]) -> pa.Field:
    """Return a column with a type for all files: one without values takes the others' type."""
    kinds = [kind for kind in dict.fromkeys(types) if not pa.types.is_null(kind)]
    if field.name in titles and (len(kinds) != 1 or pa.types.is_string_view(kinds[0])):
        return pa.field(field.name, pa.string())
    if len(kinds) < 2:
        return pa.field(field.name, kinds[0] if kinds else pa.null())
    if all(map(_is_text, kinds)):
        return pa.field(field.name, pa.large_string())
    try:
        return pa.unify_schemas(
            [pa.schema([(field.name, kind)]) for kind in kinds], promote_options="permissive"
        ).field(0)
    except pa.ArrowException:
        names = ", ".join(map(str, kinds))
        raise SourceError(
            f"the files have different types in the column {field.name!r}: {names}"
        ) from None


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(
        holds(inner)
        for holds in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_null,
        )
    )


def _not_text(schema: pa.Schema, named: Sequence[str]) -> str:
    other = [name for name in named if name in schema.names]
    wrong = [name for name in other if not _is_text(schema.field(name).type)]
    return f"column {wrong[0]!r} is {schema.field(wrong[0]).type}, titles are text" if wrong else ""


def _require_header(names: Sequence[str], path: str) -> None:
    if not names:
        raise SourceError(f"{path} is empty: it needs a header")
    if len(set(names)) < len(names):
        raise SourceError(f"{path}: a column stands twice in the header {list(names)}")


def _estimated_rows(beginning: SourceFile, size: int) -> int:
    head = next(beginning.blocks(), b"")
    return size * head.count(b"\n") // max(1, len(head))
