"""Raw titles where they lie: tables of any kind, one file or a folder of them, local or remote.

Addresses are fsspec's: a path, or `s3://…`, `gs://…`, `https://…` with its package installed. Files
are read one behind the other by the order of their names, part by part of `ROWS` rows, so that none
has to fit into memory. All columns are text but those of Parquet, and each row comes out or is
refused with its line and the reason (`tasks/tables`). Folders named `year=2023` become columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tasks.apps.bulk.inspection import (
    File,
    Inspected,
    Refused,
    SourceError,
    files_at,
    inspected,
    only_kind,
    partition,
    shard_of,
    tables_in,
)
from tasks.tables.delimited import Format, checked_encoding
from tasks.tables.read_table import open_table
from tasks.tables.rejected import BAD_CHARACTERS, EMPTY_ROW, Chunk, RejectedRows
from tasks.tables.source_files import DAMAGED, PARQUET, IngestError, SourceFile
from tasks.tables.typed_tables import parquet_batches

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

ROWS = 1 << 16  # of a part
ASKED = "asked_title"  # is added where several columns hold titles: of a row the first not blank
HINTS = {BAD_CHARACTERS: f"{BAD_CHARACTERS}; --encoding names that of the file"}


@dataclass(frozen=True)
class TitleSource:
    """Files with the same columns."""

    system: AbstractFileSystem  # fsspec's file system
    files: tuple[File, ...]  # by name
    columns: tuple[str, ...]  # that hold the raw titles
    schema: pa.Schema  # of all columns, as they are passed through
    own: tuple[str, ...]  # columns that the files hold; folders and `file_column` give the others
    form: Format
    file_column: str  # takes the name of the file, if it has a name
    rows: int  # how many there are, of text by the length of the first ones
    left_out: Mapping[str, str]  # files that are no data, and why
    notes: tuple[str, ...]  # what is unusual in the others

    @property
    def column(self) -> str:
        """The column that is asked."""
        return self.columns[0] if len(self.columns) == 1 else ASKED

    @property
    def description(self) -> list[str]:
        """Lines for a user: which files and columns, what is unusual, and what is left out."""
        columns = ", else ".join(map(repr, self.columns))
        lines = [f"files: {len(self.files)}, titles in the column {columns}", *self.notes]
        return [*lines, *(f"left out: {cause}" for cause in self.left_out.values())]

    @property
    def settings(self) -> dict[str, object]:
        """Choices beside the column that is asked, for the plan of a run."""
        chosen = {
            "columns": list(self.columns) if self.column == ASKED else [],
            "encoding": self.form.encoding,
            "file_column": self.file_column,
            "left_out": sorted(self.left_out),
        }
        return {name: value for name, value in chosen.items() if value}

    @classmethod
    def find(
        cls,
        address: str,
        columns: Sequence[str] = (),
        encoding: str = "",
        file_column: str = "",
        usual: str = "",
        shard: str = "",
    ) -> TitleSource:
        """Find the files at an address, and read the beginning of each.

        `columns`: those of titles, in place of the one detected; of several, each row's first that
        is not blank is asked. `usual`: the one that is detected first, if it is there. `encoding`:
        of files of text, in place of the one found. `shard`: of i/n every n-th file is read, from
        the i-th on. A SourceError says that no file is readable or has titles, they differ in their
        columns, or there is no such shard; a ValueError that Python knows no such encoding.
        """
        system, path = fsspec.core.url_to_fs(address)
        files = tuple(shard_of(files_at(system, path, address), shard, address))
        form, columns = Format(encoding=checked_encoding(encoding)), list(dict.fromkeys(columns))
        seen, left_out, causes = list[Inspected](), dict[str, str](), list[str]()
        for file in files:
            with readable(file.path):
                tables = tables_in(system, file)
            for table in tables:
                try:
                    with readable(table.path):
                        seen.append(inspected(table, file, columns, form, usual))
                except SourceError as error:
                    if not table.is_delimited or len(files) + len(tables) == 2:
                        raise
                    causes.append(str(error))
                    left_out[table.name] = error.remark
        if not seen:
            raise SourceError("\n".join([f"{address} holds no titles:", *causes]))
        schema = only_kind(seen, address)
        added = [*partition(files[0].name), *([file_column] if file_column else [])]
        added += [ASKED] if len(columns) > 1 else []
        if taken := sorted({file_column, ASKED} & set(added) & set(schema.names)):
            raise SourceError(f"the input has a column {taken[0]!r} already: rename it")
        return cls(
            system,
            files,
            tuple(seen[0].columns),
            pa.schema([*schema, *((n, pa.string()) for n in added if n not in schema.names)]),
            tuple(schema.names),
            form,
            file_column,
            sum(one.rows for one in seen),
            left_out,
            tuple(f"{one.table.name}: {note}" for one in seen for note in one.notes),
        )

    def parts(self, file: File, refuse: Callable[[Refused], None]) -> Iterator[pa.Table]:
        """Yield a file's rows, `ROWS` at a time; SourceError if damaged or of other columns."""
        held, count = list[pa.RecordBatch](), 0
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
        with readable(file.path):
            for table in tables_in(self.system, file):
                if table.name not in self.left_out:
                    constant = {**partition(file.name), self.file_column: table.name}
                    for batch in self._table_batches(table, refuse):
                        yield self._completed(batch, constant)

    def _table_batches(
        self, table: SourceFile, refuse: Callable[[Refused], None]
    ) -> Iterator[pa.RecordBatch]:
        if table.suffix in PARQUET:
            yield from parquet_batches(table)
            return
        read = open_table(table, self.own, "", RejectedRows(), self.form)
        delimiter = read.delimiter if len(self.own) > 1 else ""
        for chunk in read.chunks({name: name for name in self.own}):
            taken = _is_row(chunk, delimiter)
            for line, text, fault in chunk.places.filter(~taken).iter_rows():
                refuse(Refused(table.name, line, HINTS.get(fault, fault), text))
            yield from chunk.values.filter(taken).to_arrow().to_batches()

    def _completed(
        self, batch: pa.RecordBatch, constant: Mapping[str, str | None]
    ) -> pa.RecordBatch:
        """Put the columns of a batch into the order of all files, and add those of its place."""
        columns = []
        for field in self.schema:
            if field.name in batch.schema.names:
                columns.append(batch[field.name].cast(field.type))
            elif field.name == ASKED:
                columns.append(_first_filled([batch[name] for name in self.columns]))
            else:
                columns.append(pa.array([constant[field.name]] * len(batch), pa.string()))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn an error of reading into a SourceError that names the file."""
    try:
        yield
    except IngestError as error:
        raise SourceError(str(error).rstrip()) from None
    except (pa.ArrowException, *DAMAGED) as error:
        raise SourceError(
            f"{path} cannot be read: {(str(error) or repr(error)).splitlines()[0]}; repair or "
            "remove it, and run again: finished parts are kept"
        ) from None


def _is_row(chunk: Chunk, delimiter: str) -> pl.Series:
    """Tell which records are rows: blank fields are, and a blank line if `delimiter` is empty."""
    fault, text = chunk.places["fault"], chunk.places["text"]
    blank_row = (fault == EMPTY_ROW) & text.str.contains(delimiter, literal=True)
    return fault.is_null() | blank_row.fill_null(False)


def _first_filled(columns: Sequence[pa.Array]) -> pa.Array:
    """Take of each row the first value that is not blank, or else the first one."""
    texts = [column.cast(pa.string()) for column in columns]
    blank = [pc.equal(pc.utf8_trim_whitespace(text), "") for text in texts]
    filled = [pc.if_else(no, None, text) for no, text in zip(blank, texts, strict=True)]
    return pc.coalesce(*filled, texts[0])
