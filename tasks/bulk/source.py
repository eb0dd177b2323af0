"""Raw titles where they lie: CSV or Parquet, one file or a folder of them, local or remote.

Addresses are fsspec's: a path, or `s3://…`, `gs://…`, `https://…` with its package installed. Files
are read one behind the other by the order of their names, part by part of `ROWS` rows, so that none
has to fit into memory. All columns of a CSV file are text; rows of another width than its header
are refused and noted, no row is lost in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.bulk.delimited import csv_batches, look, text_schema
from tasks.bulk.files import PARQUET, File, Refuse, SourceError, damaged, files_at, opened

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

ROWS = 1 << 17
"""Of a part."""
TITLES = ("raw_title", "title", "job_title", "jobtitle", "job title", "position")
"""Names of the column, the surest first, where none is named."""


@dataclass(frozen=True)
class Source:
    """Files of one kind and with the same columns.

    Attributes:
        system: fsspec's file system.
        files: by name.
        column: that holds the raw titles.
        schema: of all columns, as they are passed through.
        delimiter: of CSV files; empty for Parquet.
        rows: how many there are, of CSV by the length of the first ones.
    """

    system: AbstractFileSystem
    files: tuple[File, ...]
    column: str
    schema: pa.Schema
    delimiter: str
    rows: int

    @classmethod
    def find(cls, address: str, column: str = "") -> Source:
        """Look at what lies at an address.

        Raises:
            SourceError: nothing does, nothing readable, or no column of titles.
        """
        system, path = fsspec.core.url_to_fs(address)
        files = tuple(files_at(system, path, address))
        kinds = {file.name.lower().endswith(PARQUET) for file in files}
        if len(kinds) != 1:
            raise SourceError(f"{address} holds CSV and Parquet: name a folder with one of them")
        if kinds == {True}:
            footers = [*_footers(system, files)]
            schema, delimiter = footers[0].schema.to_arrow_schema().remove_metadata(), ""
            rows = sum(footer.num_rows for footer in footers)
        else:
            known = look(system, files[0])
            schema, delimiter = text_schema(known.names), known.delimiter
            rows = int(sum(file.size for file in files) / known.width)
        chosen = _column(schema, column, files[0].name)
        return cls(system, files, chosen, schema, delimiter, rows)

    def parts(self, file: File, refuse: Refuse) -> Iterator[pa.Table]:
        """Yield the rows of a file, `ROWS` at a time.

        Raises:
            SourceError: it is damaged, or has other columns than the first.
        """
        held: list[pa.RecordBatch] = []
        count = 0
        try:
            for batch in self._batches(file, refuse):
                while count + len(batch) >= ROWS:
                    cut = ROWS - count
                    yield pa.Table.from_batches([*held, batch.slice(0, cut)], self.schema)
                    held, count, batch = [], 0, batch.slice(cut)
                if len(batch):
                    held.append(batch)
                    count += len(batch)
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
            raise damaged(file, error) from None
        if held:
            yield pa.Table.from_batches(held, self.schema)

    def _batches(self, file: File, refuse: Refuse) -> Iterator[pa.RecordBatch]:
        if self.delimiter:
            known = look(self.system, file)
            self._same(text_schema(known.names), file)
            yield from csv_batches(self.system, file, known, refuse)
            return
        with opened(self.system, file) as handle:
            parquet = _parquet(handle, file)
            self._same(parquet.schema_arrow.remove_metadata(), file)
            yield from parquet.iter_batches(batch_size=1 << 16)

    def _same(self, schema: pa.Schema, file: File) -> None:
        if not schema.equals(self.schema):
            raise SourceError(
                f"{file.path} has the columns {_shown(schema)}, {self.files[0].name} has "
                f"{_shown(self.schema)}: files of one run have the same"
            )


def _parquet(handle: BinaryIO, file: File) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(handle)
    except (pa.ArrowException, OSError) as error:
        raise damaged(file, error) from None


def _footers(system: AbstractFileSystem, files: tuple[File, ...]) -> Iterator[pq.FileMetaData]:
    for file in files:
        with opened(system, file) as handle:
            yield _parquet(handle, file).metadata


def _column(schema: pa.Schema, wanted: str, file: str) -> str:
    """Return the column of raw titles: as named, by its usual names, or the only text."""
    if wanted and wanted not in schema.names:
        raise SourceError(f"{file} has no column {wanted!r}, but {_shown(schema)}")
    texts = [field.name for field in schema if _is_text(field.type)]
    by_name = {name.strip().lower(): name for name in reversed(texts)}
    usual = [by_name[name] for name in TITLES if name in by_name]
    found = wanted or (usual or (texts if len(texts) == 1 else [""]))[0]
    if not found:
        raise SourceError(
            f"{file}: which column holds the titles? It has {_shown(schema)}; name one: --column"
        )
    if found not in texts:
        raise SourceError(
            f"{file}: column {found!r} is {schema.field(found).type}, titles are text"
        )
    return found


def _is_text(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))


def _shown(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
