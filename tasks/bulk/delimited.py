"""CSV of any size: what its beginning tells, and its rows as Arrow, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.csv

from tasks.bulk.files import File, Refuse, Refused, SourceError, opened
from tasks.readers.delimiters import find_delimiter
from tasks.readers.encodings import UTF_8, decode

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

HEAD = 1 << 20
"""Bytes of a CSV file by which its encoding and delimiter are known."""
BLOCK = 1 << 23


class Look(NamedTuple):
    """What the beginning of a CSV file tells; `width` is the bytes of a row, on average."""

    delimiter: str
    encoding: str
    names: list[str]
    width: float


def look(system: AbstractFileSystem, file: File) -> Look:
    """Read the beginning of a file.

    Raises:
        SourceError: it is empty, or its header names a column twice.
    """
    with opened(system, file) as handle:
        head = handle.read(HEAD)
    if len(head) == HEAD:
        head = head[: head.rfind(b"\n") + 1] or head
    decoded = decode(head)
    lines = decoded.text.splitlines(keepends=True)
    if not decoded.text.strip():
        raise SourceError(f"{file.path} is empty: it needs a header")
    fit = find_delimiter(lines)
    if len(set(fit.header)) < len(fit.header):
        raise SourceError(f"{file.path}: a column stands twice in the header {fit.header}")
    return Look(fit.delimiter, decoded.encoding, fit.header, len(head) / len(lines))


def csv_batches(
    system: AbstractFileSystem, file: File, known: Look, refuse: Refuse
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, all columns text; what is no row goes to `refuse`."""
    names, encoding = known.names, known.encoding
    schema = text_schema(names)

    def note(row: Any) -> str:  # noqa: ANN401  # pyarrow's InvalidRow
        reason = f"{row.actual_columns} fields, the header has {row.expected_columns}"
        refuse(Refused(file.name, reason, row.text))
        return "skip"

    with opened(system, file) as handle:
        # as bytes: one wrong byte would else be an error of the whole file
        batches = pyarrow.csv.open_csv(
            handle,
            pyarrow.csv.ReadOptions(
                use_threads=False,
                block_size=BLOCK,
                encoding="utf8" if encoding == UTF_8 else encoding,
                column_names=names,
                skip_rows=1,
            ),
            pyarrow.csv.ParseOptions(
                delimiter=known.delimiter, newlines_in_values=True, invalid_row_handler=note
            ),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False
            ),
        )
        for batch in batches:
            yield _as_text(batch, schema, file, refuse)


def text_schema(names: list[str]) -> pa.Schema:
    """Return columns of text."""
    return pa.schema([(name, pa.string()) for name in names])


def _as_text(
    batch: pa.RecordBatch, schema: pa.Schema, file: File, refuse: Refuse
) -> pa.RecordBatch:
    """Take bytes as UTF-8; rows that are none are refused."""
    try:
        return batch.cast(schema)
    except pa.ArrowInvalid:
        rows = batch.to_pylist()
    whole = []
    for row in rows:
        try:
            whole.append({name: value.decode() for name, value in row.items()})
        except UnicodeDecodeError:
            shown = ", ".join(value.decode(errors="backslashreplace") for value in row.values())
            refuse(Refused(file.name, "no UTF-8", shown))
    return pa.RecordBatch.from_pylist(whole, schema)
