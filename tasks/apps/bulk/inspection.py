"""Files of an input and the beginning of each: its columns, those of titles, how many rows.

In: an address of fsspec. Out: its files of `KINDS` (`files_at`), the tables in a file, and what the
beginning of a table shows (`inspected`). The columns of titles are those that are named, that of
the profile's raw titles, or one that is told by its name and values (`title_columns`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import polars as pl
import pyarrow as pa
import yaml
from fsspec.implementations.local import LocalFileSystem

from tasks.io.files import text_hash
from tasks.io.regular_files import file_fault
from tasks.tables.delimited import Format
from tasks.tables.header import are_honorifics, holds_names, one_line
from tasks.tables.read_table import open_table
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import GZIP, JSON_LINES, PARQUET, TABLES, ZIP, SourceFile, is_hidden
from tasks.tables.typed_tables import OBJECTS, parquet_batches, parquet_schema

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PLAIN = (*TABLES, ".txt")
KINDS = (*PLAIN, *(suffix + GZIP for suffix in PLAIN), ZIP)
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
STAMPS = ("ETag", "etag", "mtime", "LastModified")  # names of a file's version
TITLES = ("raw title", "job title", "jobtitle", "title", "position title", "position")
"""Names of a column of titles, the surest first; case and ``_`` do not count."""
INSPECTED = 1000  # rows whose values are looked at
SHOWN = 80  # characters of the columns' names in a remark


class SourceError(ValueError):
    """An input that cannot be read; the message says which, and how to repair it.

    `remark` names the fault of one file among others.
    """

    def __init__(self, message: str, remark: str = "") -> None:
        super().__init__(message)
        self.remark = remark or message


class File(NamedTuple):
    """A file of the input: its name below the address, its size, and what tells its versions."""

    name: str
    path: str
    size: int
    version: str


class Refused(NamedTuple):
    """A row that cannot be read: its file, the line it starts on, and why."""

    file: str
    line: int
    reason: str
    row: str


class Inspected(NamedTuple):
    """A table of a file as its beginning shows it."""

    table: SourceFile
    file: File
    schema: pa.Schema
    columns: list[str]  # that hold titles
    rows: int
    notes: list[str]


def files_at(system: AbstractFileSystem, path: str, address: str) -> Iterator[File]:
    """Yield the files of `KINDS` at a path, by name, no hidden ones; SourceError if none."""
    if not system.exists(path):
        raise SourceError(f"no file or folder {address}")
    infos = system.find(path, detail=True) if system.isdir(path) else {path: system.info(path)}
    base, any_file = path.rstrip("/"), False
    for file_path, info in sorted(infos.items()):
        name = file_path[len(base) :].lstrip("/") or file_path.rpartition("/")[2]
        name = name.partition("?")[0] if "://" in file_path else name  # a query may be a signature
        if not is_hidden(name) and name.lower().endswith(KINDS):
            any_file = True
            if isinstance(system, LocalFileSystem) and (fault := file_fault(Path(file_path))):
                raise SourceError(f"{fault}: only regular files are read")
            stamp = next((info[key] for key in STAMPS if key in info), "")
            yield File(name, file_path, int(info["size"] or 0), str(stamp))
    if not any_file:
        raise SourceError(
            f"{address}: no file that ends in {', '.join(PLAIN)}, packed with gzip or zip or not"
        )


def shard_of(files: Iterable[File], shard: str, address: str) -> list[File]:
    """Return every n-th file for a shard i/n, from the i-th on; SourceError if it has none."""
    number, _, count = (shard or "1/1").partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise SourceError(f"shard {shard!r}: the second of eight is 2/8")
    own = [*islice(files, int(number) - 1, None, int(count))]
    if not own:
        raise SourceError(f"{address} has fewer files than shards: none is left for {shard}")
    return own


def state_of(files: Sequence[File]) -> str:
    """Return a hash that differs for other files, and for these after a change."""
    return text_hash(json.dumps(files))


def tables_in(system: AbstractFileSystem, file: File) -> list[SourceFile]:
    """Return the tables of a file, those of a zip archive by name; IngestError if damaged."""
    opened = partial(system.open, file.path, "rb")
    return SourceFile(file.path, file.name, opened).unpacked("")


def partition(name: str) -> dict[str, str | None]:
    """Return the columns that the folders of a file name, as Hive does: ``year=2023/x.parquet``."""
    pairs = (folder.partition("=") for folder in name.split("/")[:-1])
    return {
        unquote(key): None if value == NO_VALUE else unquote(value)
        for key, equals, value in pairs
        if key and equals
    }


def inspected(
    table: SourceFile, file: File, named: Sequence[str], form: Format, usual: str = ""
) -> Inspected:
    """Read the beginning of a table; of Parquet the footer, of a workbook all of it.

    `named`, `usual`: columns of titles, see `title_columns`. A SourceError says that it has no
    header, a column twice, or no column of titles; if it is not readable, the reader's error comes.
    """
    if table.suffix in PARQUET:
        schema, rows = parquet_schema(table)
        names = [field.name for field in schema if _is_text(field.type)]
        first = next(parquet_batches(table, names), schema.empty_table().select(names))
        values, notes, sure = pl.DataFrame(first), list[str](), True
    else:
        lines = OBJECTS if table.suffix in JSON_LINES else 1
        beginning = table.beginning(lines) if table.is_text else table
        opened = open_table(beginning, named, "", RejectedRows(), form)
        schema, notes = pa.schema([(name, pa.string()) for name in opened.names]), [*opened.notes]
        if not opened.names:
            raise SourceError(f"{table.path} is empty: it needs a header")
        if len(set(opened.names)) < len(opened.names):
            raise SourceError(f"{table.path}: a column stands twice in the header {opened.names}")
        chunks = opened.chunks({name: name for name in opened.names})
        none = pl.DataFrame(schema=dict.fromkeys(opened.names, pl.String))
        values = next((chunk.good for chunk in chunks), none)
        rows = len(values)
        if table.is_text:  # by the length of the first lines
            block = next(beginning.blocks(), b"")
            rows = file.size * block.count(b"\n") // max(1, len(block))
        sure = not table.is_delimited
    texts = values.head(INSPECTED).cast(pl.String).fill_null("").to_dict(as_series=False)
    try:
        columns = title_columns(texts, named, described(schema), sure_of_names=sure, usual=usual)
    except ValueError as error:
        wrong = [
            f"column {field.name!r} is {field.type}, titles are text"
            for field in schema
            if field.name in named and not _is_text(field.type)
        ]
        there = shorten(", ".join(schema.names), SHOWN, placeholder=" ...")
        remark = f"{table.name}, which has no column of titles ({there})"
        raise SourceError(f"{table.name}: {[*wrong, error][0]}", remark) from None
    return Inspected(table, file, schema, columns, rows, notes)


def only_kind(seen: Sequence[Inspected], address: str) -> pa.Schema:
    """Return the columns of all tables, in the order of the first; SourceError if they differ."""
    if len({one.table.suffix in PARQUET for one in seen}) > 1:
        raise SourceError(f"{address} holds Parquet and text: name a folder with one of them")
    first = seen[0]
    for one in seen[1:]:
        same = sorted(one.schema.names) == sorted(first.schema.names)
        if not same or partition(one.file.name).keys() != partition(first.file.name).keys():
            raise SourceError(
                f"{one.table.path} has the columns {described(one.schema)}, {first.table.name} has "
                f"{described(first.schema)}: files of one run have the same"
            )
    types = {name: [one.schema.field(name).type for one in seen] for name in first.schema.names}
    return pa.schema(_one_type(own, types[own.name], first.columns) for own in first.schema)


def title_columns(
    values: Mapping[str, Sequence[str]],
    named: Sequence[str],
    described: str,
    *,
    sure_of_names: bool,
    usual: str = "",
) -> list[str]:
    """Return the columns of titles, in the order of `named`, or else the one found.

    `values`: the first ones of each column that may hold text; `described`: all columns, for
    messages; `sure_of_names`: the header cannot be a row, so an only column needs no known name;
    `usual`: the column that is taken if none is named and the table has it. A ValueError says that
    a named column is missing, or none is named and no name and its values tell.
    """
    if named:
        return [_as_written(name, values, described) for name in named]
    if usual in values:
        return [usual]
    names = reversed([*values])
    by_name = {" ".join(re.split(r"[\s_-]+", name.strip().casefold())): name for name in names}
    known = [by_name[title] for title in TITLES if title in by_name]
    if fitting := [name for name in known if _may_hold_titles(values[name])]:
        return fitting[:1]
    if len(values) == 1 and sure_of_names and not known:
        return list(values)
    if not holds_names(list(values)):
        raise ValueError(
            f"the first line looks like a row and no header: {described}; put the columns' names "
            "above the rows"
        )
    raise ValueError(
        f"which column holds the titles? It has {described}; name it: --column. If that is a row, "
        "put the columns' names above it"
    )


def usual_column(root: Path) -> str:
    """Return the column of raw titles in the data of `root`, or of its profile; empty: unknown."""
    file = root / "params.yaml"
    section = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for key in ("ingest", "inputs", "columns"):
        section = section.get(key, {})
    return str(section.get("raw_title", ""))


def described(schema: pa.Schema) -> str:
    """List columns with their types, for a message."""
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def _as_written(name: str, columns: Mapping[str, object], described: str) -> str:
    """Return a named column as the header has it: a line break counts as a space."""
    if alike := [one for one in columns if one_line(one) == one_line(name)]:
        return name if name in alike else alike[0]
    raise ValueError(f"no column {name!r}, but {described}")


def _may_hold_titles(values: Sequence[str]) -> bool:
    filled = [value for value in values if value.strip()]
    wordy = sum(any(map(str.isalpha, value)) for value in filled)
    return 2 * wordy >= len(filled) and not (filled and are_honorifics(filled))


def _one_type(field: pa.Field, types: Sequence[pa.DataType], titles: Sequence[str]) -> pa.Field:
    """Give a column a type for all files: where it has no values, the others' type."""
    kinds = [kind for kind in dict.fromkeys(types) if not pa.types.is_null(kind)]
    if field.name in titles and (len(kinds) != 1 or pa.types.is_string_view(kinds[0])):
        return pa.field(field.name, pa.string())
    if len(kinds) < 2:
        return pa.field(field.name, kinds[0] if kinds else pa.null())
    if all(map(_is_text, kinds)):
        return pa.field(field.name, pa.large_string())
    try:
        schemas = [pa.schema([(field.name, kind)]) for kind in kinds]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0)
    except pa.ArrowException:
        fault = f"the files have different types in the column {field.name!r}"
        raise SourceError(f"{fault}: {', '.join(map(str, kinds))}") from None


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return inner in (pa.string(), pa.large_string(), pa.string_view(), pa.null())
