"""A delimited file with a header to chunks under our names, each bad record with its fault.

The file is read as the chunks are consumed. Habits of spreadsheets do no harm: a first line
``sep=;``, empty fields behind the last column, and a record in quotes as a whole.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice

import polars as pl

from tasks.tables.delimiters import DECLARED, LINES, NAMES, find_delimiter, fit
from tasks.tables.encodings import is_text
from tasks.tables.records import Block, Format, Records
from tasks.tables.rejected import (
    BAD_CHARACTERS,
    BAD_QUOTES,
    BAD_WIDTH,
    CHUNK,
    EMPTY_ROW,
    Chunk,
    RejectedRows,
    escaped,
)
from tasks.tables.source_files import IngestError, SourceFile, require_columns
from tasks.tables.text import file_encoding, text_lines


@dataclass(frozen=True)
class Delimited:
    """A file whose header has been read.

    `head` has its first lines, from the header on; `names` those of the columns, none without a
    header; `records` are behind the header; `origin` says where the file comes from, for messages.
    """

    file: SourceFile
    head: list[str]
    form: Format
    names: list[str]
    records: Records
    origin: str

    @classmethod
    def open(
        cls,
        file: SourceFile,
        needed_columns: Iterable[str],
        origin: str,
        rejected: RejectedRows,
        form: Format,
    ) -> Delimited:
        """Detect how a file is written, as far as `form` does not say; `rejected` notes it.

        A delimiter is found by `needed_columns`, which the file should have.

        Raises:
            IngestError: it is no text, or not in the encoding of `form`.
        """
        form = replace(form, encoding=file_encoding(file, origin, form.encoding))
        lines = text_lines(file, origin, rejected, form.encoding)
        head, needed_columns = list(islice(lines, LINES)), set(needed_columns)
        declaration = DECLARED.fullmatch(head[0]) if head else None
        declared = declaration[1] if declaration else ""
        head = head[1:] if declared else head
        if not form.delimiter and declared and fit(head, declared).names(needed_columns):
            form = replace(form, delimiter=declared)
        delimiter = form.delimiter or find_delimiter(head, needed_columns).delimiter
        form = replace(form, delimiter=delimiter)
        rejected.readings[file.name] += f", {_name_of(delimiter)} between fields"
        records = Records(chain(head, lines), form, 2 if declared else 1)
        header = next(records, None)
        names = [name.strip() for name in (header and header.fields) or []]
        return cls(file, head, form, names, records, origin)

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Yield the rows, with columns by our names; a bad one has a fault and no values.

        Raises:
            IngestError: there is no header, or a column is missing or stands twice.
        """
        path, origin, theirs = self.file.path, self.origin, columns.values()
        if not self.names:
            raise IngestError(f"{path} has no header line. {origin}")
        require_columns(self.names, theirs, path, self._other_delimiter(theirs) + origin)
        for block in self.records.blocks(CHUNK):
            yield self._chunk(block, columns)

    def _chunk(self, block: Block, columns: Mapping[str, str]) -> Chunk:
        lines, texts, split = block
        width, nothing = len(self.names), [""] * len(self.names)
        all_text = is_text("".join(texts))
        rows = [row if row and len(row) == width else self._repaired(row) for row in split]
        faults = [
            _fault(row, width, good=all_text or is_text(text))
            for row, text in zip(rows, texts, strict=True)
        ]
        good = [nothing if fault else row for row, fault in zip(rows, faults, strict=True)]
        texts = [escaped(text) if bad else text for text, bad in zip(texts, faults, strict=True)]
        schema = {"line": pl.UInt32, "text": pl.String, "fault": pl.String}
        by_place = list(zip(*good, strict=True))
        values = [
            pl.Series(ours, by_place[self.names.index(theirs)], pl.String)
            for ours, theirs in columns.items()
        ]
        return Chunk(
            pl.DataFrame([list(lines), texts, faults], schema=schema), pl.DataFrame(values)
        )

    def _repaired(self, fields: list[str] | None) -> list[str] | None:
        """Give a record its width where nothing is guessed, unnamed last columns left out."""
        if not fields or self.form.quoting == csv.QUOTE_NONE:
            return fields
        width = len(self.names)
        if len(fields) == 1 < width and '"' in fields[0]:
            # opened in one column, a line that holds quotes is quoted as a whole when it is saved
            inner = list(csv.reader(fields, delimiter=self.form.delimiter))
            return inner[0] if len(inner) == 1 and len(inner[0]) == width else fields
        if len(fields) > width and not any(field.strip() for field in fields[width:]):
            return fields[:width]
        needed = max((at for at, name in enumerate(self.names, start=1) if name), default=0)
        return fields + [""] * (width - len(fields)) if len(fields) >= needed else fields

    def _other_delimiter(self, needed_columns: Collection[str]) -> str:
        """Name another delimiter if the columns are there with it."""
        other, ours = find_delimiter(self.head, set(needed_columns)), self.form.delimiter
        if other.delimiter == ours or not set(needed_columns) <= set(other.header):
            return ""
        names = _name_of(ours), _name_of(other.delimiter)
        return f"It was read with {names[0]} between fields, but has {names[1]}. "


def _name_of(delimiter: str) -> str:
    return NAMES.get(delimiter, repr(delimiter))


def _fault(fields: list[str] | None, width: int, *, good: bool) -> str | None:
    if not good:
        return BAD_CHARACTERS
    if fields is None:
        return BAD_QUOTES
    if not "".join(fields).strip():
        return EMPTY_ROW
    return None if len(fields) == width else BAD_WIDTH
