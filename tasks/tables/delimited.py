"""A delimited file with a header to chunks under our names, each bad record with its fault.

The file is read as the chunks are consumed. Habits of spreadsheets do no harm: a first line
``sep=;``, empty fields behind the last column, and a record in quotes as a whole.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice

from tasks.tables.delimiters import DECLARED, LINES, NAMES, Fit, find_format, fit
from tasks.tables.encodings import is_text
from tasks.tables.header import header_of
from tasks.tables.records import Format, Records
from tasks.tables.rejected import (
    BAD_CHARACTERS,
    BAD_QUOTES,
    BAD_WIDTH,
    CHUNK,
    EMPTY_ROW,
    LONG_FIELD,
    Chunk,
    RejectedRows,
    escaped,
)
from tasks.tables.source_files import IngestError, SourceFile, require_columns
from tasks.tables.text import file_encoding, text_lines


@dataclass(frozen=True)
class Delimited:
    """A file whose header has been read.

    `head` has its first lines; `names` those of the columns, none without a header; `records` are
    behind the header; `notes` tell what is unusual; `origin` says where the file comes from, for
    messages.
    """

    file: SourceFile
    head: list[str]
    form: Format
    names: list[str]
    records: Records
    notes: list[str]
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

        Its delimiter is found by `needed_columns`, which the file should have.

        Raises:
            IngestError: it is no text, or not in the encoding of `form`; its header has broken
                quotes; or nothing tells whether it has one column or several.
        """
        form = replace(form, encoding=file_encoding(file, origin, form.encoding))
        lines = text_lines(file, origin, rejected, form.encoding)
        head, needed_columns = list(islice(lines, LINES)), set(needed_columns)
        declaration = DECLARED.fullmatch(head[0]) if head else None
        found, first = find_format(head, needed_columns, form), 1
        if declaration:
            head, first = head[1:], 2
            declared = fit(head, replace(form, delimiter=declaration[1]), needed_columns)
            found = find_format(head, needed_columns, form)
            splits = len(declared.header) > 1 or len(found.header) == 1
            if not form.delimiter and splits and declared.names(needed_columns):
                found = declared
        _require_clear(found, file, needed_columns, origin)
        records = Records(chain(head, lines), found.form, first)
        above = list(islice(records, found.place))
        names, notes = _columns(records, Records(head, found.form, first), file, origin)
        if lost := sum(record.fields != [] for record in above):
            notes.insert(0, f"{lost} line{'s' * (lost > 1)} above the header left out")
        notes += ["a backslash before quotes"] * found.form.backslash
        rejected.readings[file.name] += f", {_name_of(found.form.delimiter)} between fields"
        rejected.readings[file.name] += "".join(f"; {note}" for note in notes)
        return cls(file, head, found.form, names, records, notes, origin)

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Yield the rows, with columns by our names; a bad one has a fault and no values.

        Raises:
            IngestError: there is no header, or a column is missing or stands twice.
        """
        path, origin, theirs = self.file.path, self.origin, columns.values()
        if not self.names:
            raise IngestError(f"{path} has no header line. {origin}")
        require_columns(self.names, theirs, path, self._other_delimiter(theirs) + origin)
        while (chunk := self._chunk(columns)).places.height:
            yield chunk

    def _chunk(self, columns: Mapping[str, str]) -> Chunk:
        lines, texts, split = list[int](), list[str](), list[list[str] | None]()
        for record in islice(self.records, CHUNK):
            lines.append(record.line)
            texts.append(record.text)
            split.append(record.fields)
        width, nothing = len(self.names), [""] * len(self.names)
        all_text = is_text("".join(texts))
        rows = [row if row and len(row) == width else self._repaired(row) for row in split]
        faults = [
            _fault(row, text, width, good=all_text or is_text(text))
            for row, text in zip(rows, texts, strict=True)
        ]
        good = [
            row if row and len(row) == width and fault in (None, EMPTY_ROW) else nothing
            for row, fault in zip(rows, faults, strict=True)
        ]
        texts = [escaped(text) if bad else text for text, bad in zip(texts, faults, strict=True)]
        return Chunk.of((lines, texts, faults), good, self.names, columns)

    def _repaired(self, fields: list[str] | None) -> list[str] | None:
        """Give a record its width where nothing is guessed, unnamed last columns left out."""
        if not fields or self.form.quoting == csv.QUOTE_NONE:
            return fields
        width = len(self.names)
        if len(fields) == 1 < width and '"' in fields[0]:
            # opened in one column, a line that holds quotes is quoted as a whole when it is saved
            lines = io.StringIO(fields[0], newline="")
            inner = list(csv.reader(lines, delimiter=self.form.delimiter))
            return inner[0] if len(inner) == 1 and len(inner[0]) == width else fields
        if len(fields) > width and not any(field.strip() for field in fields[width:]):
            return fields[:width]
        needed = max((at for at, name in enumerate(self.names, start=1) if name), default=0)
        return fields + [""] * (width - len(fields)) if len(fields) >= needed else fields

    def _other_delimiter(self, needed_columns: Collection[str]) -> str:
        """Name another delimiter if the columns are there with it."""
        other, ours = find_format(self.head, set(needed_columns)), self.form.delimiter
        if other.form.delimiter == ours or not set(needed_columns) <= set(other.header):
            return ""
        names = _name_of(ours), _name_of(other.form.delimiter)
        return f"It was read with {names[0]} between fields, but has {names[1]}. "


def _require_clear(found: Fit, file: SourceFile, needed: Collection[str], origin: str) -> None:
    """Refuse a header that is one name or several, as nothing tells."""
    name = "".join(found.header[:1])
    if len(found.header) == 1 and '"' in name and set(NAMES) & set(name) and name not in needed:
        raise IngestError(f"{file.path}: the header has broken quotes: {name[:80]}. {origin}")
    if len(found.header) > 1 and not found.fitting and not (needed and found.names(needed)):
        between = _name_of(found.form.delimiter)
        raise IngestError(
            f"{file.path}: its header {found.header} has {between} between names, and no row has "
            f"as many fields. Is it one column? Then put its name in quotes, or name it. {origin}"
        )


def _columns(
    records: Records, beginning: Records, file: SourceFile, origin: str
) -> tuple[list[str], list[str]]:
    """Read the header; return the names of its columns, and notes on them."""
    header = next(records, None)
    if header is None or header.fields == []:
        return [], []
    if header.fields is None:
        raise IngestError(
            f"{file.path}: the header in line {header.line} has broken quotes: {header.text[:80]}. "
            f"{origin}"
        )
    if not is_text(header.text):
        raise IngestError(
            f"{file.path}: the header in line {header.line} has bytes that are not "
            f"{records.form.encoding}: save it as UTF-8, or name its encoding. {origin}"
        )
    records.width = len(header.fields)
    if records.form.quoting == csv.QUOTE_NONE:
        return [name.strip() for name in header.fields], []
    return header_of(header.fields, [fields for line, _, fields in beginning if line > header.line])


def _name_of(delimiter: str) -> str:
    return NAMES.get(delimiter, repr(delimiter))


def _fault(fields: list[str] | None, text: str, width: int, *, good: bool) -> str | None:
    if not good:
        return BAD_CHARACTERS
    if fields is None:
        return LONG_FIELD if len(text) > csv.field_size_limit() else BAD_QUOTES
    if not "".join(fields).strip():
        return EMPTY_ROW
    return None if len(fields) == width else BAD_WIDTH
