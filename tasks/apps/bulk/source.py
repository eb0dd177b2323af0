"""Raw titles where they lie: CSV or Parquet, one file or a folder of them, local or remote.

Addresses are fsspec's: a path, or `s3://…`, `gs://…`, `https://…` with its package installed. Files
are read one behind the other by the order of their names, part by part of `ROWS` rows, so that none
has to fit into memory. All columns of a CSV file are text, and it is read as every table is
(`tasks/tables/delimited.py`): each row comes out or is refused with its line and the reason.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import fsspec
import pyarrow as pa

from tasks.apps.bulk.files import File, Refused, SourceError, files_at, opened
from tasks.tables.delimited import Delimited
from tasks.tables.parquet import parquet_batches, parquet_schema
from tasks.tables.records import AS_FOUND, Format
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError, SourceFile

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

ROWS = 1 << 17  # of a part
TITLES = ("raw_title", "title", "job_title", "jobtitle", "job title", "position")
"""Names of the column, the surest first, where none is named."""


@dataclass(frozen=True)
class TitleSource:
    """Files of one kind and with the same columns."""

    system: AbstractFileSystem  # fsspec's file system
    files: tuple[File, ...]  # by name
    column: str  # that holds the raw titles
    schema: pa.Schema  # of all columns, as they are passed through
    form: Format | None  # delimiter and encoding of the first file; None for Parquet
    rows: int  # how many there are, of CSV by the length of the first ones

    @classmethod
    def find(cls, address: str, column: str = "") -> TitleSource:
        """Find the files at an address; SourceError if none is readable or has titles."""
        system, path = fsspec.core.url_to_fs(address)
        files = tuple(files_at(system, path, address))
        sources = [_source_file(system, file) for file in files]
        kinds = {source.is_parquet for source in sources}
        if len(kinds) != 1:
            raise SourceError(f"{address} holds CSV and Parquet: name a folder with one of them")
        if kinds == {True}:
            footers = []
            for file, source in zip(files, sources, strict=True):
                with _readable(file):
                    footers.append(parquet_schema(source))
            schema, rows, form = footers[0][0], sum(count for _, count in footers), None
        else:
            first = _delimited(files[0], sources[0], AS_FOUND)
            schema, form = _text_schema(first.names), first.form
            size = len("".join(first.head).encode(form.encoding, "replace"))
            rows = sum(file.size for file in files) * len(first.head) // size
        return cls(system, files, _column(schema, column, files[0].name), schema, form, rows)

    def parts(self, file: File, refuse: Callable[[Refused], None]) -> Iterator[pa.Table]:
        """Yield a file's rows, `ROWS` at a time; SourceError if damaged or of other columns."""
        held: list[pa.RecordBatch] = []
        count = 0
        with _readable(file):
            for batch in self._batches(file, refuse):
                while count + len(batch) >= ROWS:
                    missing = ROWS - count
                    yield pa.Table.from_batches([*held, batch.slice(0, missing)], self.schema)
                    held, count, batch = [], 0, batch.slice(missing)
                if len(batch):
                    held.append(batch)
                    count += len(batch)
        if held:
            yield pa.Table.from_batches(held, self.schema)

    def _batches(self, file: File, refuse: Callable[[Refused], None]) -> Iterator[pa.RecordBatch]:
        source = _source_file(self.system, file)
        if self.form is None:
            self._same(parquet_schema(source)[0], file)
            yield from parquet_batches(source)
            return
        read = _delimited(file, source, self.form if file == self.files[0] else AS_FOUND)
        self._same(_text_schema(read.names), file)
        for chunk in read.chunks({name: name for name in read.names}):
            for line, text, fault in chunk.places.drop_nulls("fault").iter_rows():
                refuse(Refused(file.name, line, fault, text))
            yield from chunk.good.to_arrow().cast(self.schema).to_batches()

    def _same(self, schema: pa.Schema, file: File) -> None:
        if not schema.equals(self.schema):
            raise SourceError(
                f"{file.path} has the columns {_described(schema)}, {self.files[0].name} has "
                f"{_described(self.schema)}: files of one run have the same"
            )


@contextmanager
def _readable(file: File) -> Iterator[None]:
    try:
        yield
    except IngestError as error:
        raise SourceError(str(error).rstrip()) from None
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise SourceError(
            f"{file.path} cannot be read: {str(error).splitlines()[0]}; repair or remove it, and "
            "run again: finished parts are kept"
        ) from None


def _source_file(system: AbstractFileSystem, file: File) -> SourceFile:
    return SourceFile(file.path, file.name, partial(opened, system, file))


def _delimited(file: File, source: SourceFile, form: Format) -> Delimited:
    with _readable(file):
        read = Delimited.open(source, (), "", RejectedRows(), form)
    if not read.names:
        raise SourceError(f"{file.path} is empty: it needs a header")
    if len(set(read.names)) < len(read.names):
        raise SourceError(f"{file.path}: a column stands twice in the header {read.names}")
    return read


def _text_schema(names: list[str]) -> pa.Schema:
    return pa.schema([(name, pa.string()) for name in names])


def _column(schema: pa.Schema, name: str, file: str) -> str:
    """Return the column of raw titles: as named, by its usual names, or the only text."""
    if name and name not in schema.names:
        raise SourceError(f"{file} has no column {name!r}, but {_described(schema)}")
    texts = [field.name for field in schema if _is_text(field.type)]
    by_name = {text.strip().lower(): text for text in reversed(texts)}
    usual = [by_name[title] for title in TITLES if title in by_name]
    chosen = name or (usual or (texts if len(texts) == 1 else [""]))[0]
    if not chosen:
        raise SourceError(
            f"{file}: which column holds the titles? It has {_described(schema)}; name one: "
            "--column"
        )
    if chosen not in texts:
        raise SourceError(
            f"{file}: column {chosen!r} is {schema.field(chosen).type}, titles are text"
        )
    return chosen


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _described(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
