"""Delimited text with a header to a table: its format, its columns, and each bad record's fault.

The format is that by which rows are as wide as the header. The csv module then judges records in
strict mode, as they are consumed. Habits of spreadsheets do no harm: a first line ``sep=;``, empty
fields behind the last column, and a record in quotes as a whole.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Literal, NamedTuple

from tasks.tables import rejected as reasons
from tasks.tables.header import extent, header_index, header_of, one_line
from tasks.tables.rejected import RejectedRows, Table, TableRow, in_chunks
from tasks.tables.source_files import IngestError, SourceFile
from tasks.tables.text import file_encoding, is_text, text_lines

# the candidates, the most usual first, and their names in messages
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
LINES = 2000  # that are looked at
# a first line ``sep=;``, for Excel; other programs save it with a field for each column
DECLARED = re.compile(r'"?sep=(.)"?[,;\t|]*[\r\n]*', re.IGNORECASE)
BACKSLASH = '\\"'
ESCAPED = re.compile(r'(?<!\\)((?:\\\\)*)\\"')  # behind no backslash, or an even number of them


@dataclass(frozen=True)
class Format:
    """How a delimited file is read; an empty delimiter or encoding is found in the file."""

    delimiter: str = ""
    encoding: str = ""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    backslash: bool = False  # before a quote within quotes, in place of a second quote


AS_FOUND = Format()
BARE_TABS = Format("\t", quoting=csv.QUOTE_NONE)  # a quote is a character like any other


class Fit(NamedTuple):
    """A file read in one format."""

    form: Format
    header: list[str]
    constancy: float  # the share of rows that are as wide as the header, 1 without rows
    above: int  # records above the header
    fitting: float  # `constancy` without regard to empty last fields

    @property
    def is_table(self) -> bool:
        """Tell whether there are several columns, and most rows have them."""
        return len(self.header) > 1 and self.fitting > 0.5

    def names(self, columns: Iterable[str]) -> bool:
        """Tell whether the header has all of `columns`, in whatever case."""
        header = {one_line(name).casefold() for name in self.header}
        return {one_line(name).casefold() for name in columns} <= header


class Record(NamedTuple):
    """A record of a delimited file."""

    line: int  # that it starts on
    text: str
    fields: list[str] | None  # empty of a blank line, None where quotes are broken


def open_delimited(
    file: SourceFile,
    needed_columns: Collection[str],
    origin: str,
    rejected: RejectedRows,
    form: Format,
) -> Table:
    """Detect how a file is written, as far as `form` does not say; `rejected` notes it.

    Its delimiter is found by `needed_columns`. IngestError if it is no text, or not in the encoding
    of `form`; if its header has broken quotes; or if it may have one column or several.
    """
    form = replace(form, encoding=file_encoding(file, origin, form.encoding))
    lines = text_lines(file, origin, rejected, form.encoding)
    head, needed = list(islice(lines, LINES)), set(needed_columns)
    declaration = DECLARED.fullmatch(head[0]) if head else None
    head, first = (head[1:], 2) if declaration else (head, 1)
    found = find_format(head, needed, form)
    if declaration and not form.delimiter:
        declared = fit(head, replace(form, delimiter=declaration[1]), needed)
        splits = len(declared.header) > 1 or len(found.header) == 1
        found = declared if splits and declared.names(needed) else found
    _require_clear(found, file, needed, origin)
    form = found.form
    records = Records(chain(head, lines), form, first)
    above = sum(record.fields != [] for record in islice(records, found.above))
    names, notes = _columns(records, Records(head, form, first), file, origin)
    if above:
        notes.insert(0, f"{above} line{'s' * (above > 1)} above the header left out")
    notes += ["a backslash before quotes"] * form.backslash
    reading = f", {_name_of(form.delimiter)} between fields" + "".join(f"; {one}" for one in notes)
    rejected.readings[file.name] += reading
    hint = "" if needed <= {*names} else _other_delimiter(head, needed, form.delimiter)
    read = partial(in_chunks, _rows(records, len(names), form), names)
    return Table(file.path, origin, names, read, notes, hint, form.delimiter)


def find_format(
    lines: list[str], needed_columns: Collection[str] = (), form: Format = AS_FOUND
) -> Fit:
    """Choose a delimiter by the first lines of a file, and whether backslashes escape quotes.

    Formats with which the header names all `needed_columns` (in any case) come before all others,
    and those that split a header before those that leave it whole. Then a table of several columns
    comes before one column; then that with which most rows are as wide as the header; then the
    widest; then the most usual. So a single column whose titles hold commas is read with tabs.
    """
    forms = [replace(form, delimiter=one) for one in form.delimiter or DELIMITERS]
    if form.quoting != csv.QUOTE_NONE and any(BACKSLASH in line for line in lines[:LINES]):
        forms += [replace(one, backslash=True) for one in forms]
    fits = [fit(lines, one, needed_columns) for one in forms]
    naming = [one for one in fits if needed_columns and one.names(needed_columns)]
    splitting = [one for one in fits if len(one.header) > 1]
    chosen = naming or splitting or fits
    return max(chosen, key=lambda one: (one.is_table, one.constancy, len(one.header)))


def fit(lines: list[str], form: Format, needed_columns: Collection[str] = ()) -> Fit:
    """Read the beginning of a file in one format; blank lines are no rows."""
    sample = [fields for _, _, fields in Records(lines[:LINES], form)]
    above = header_index(sample, needed_columns)
    header = (sample[above : above + 1] or [None])[0] or []
    rows = [row for row in sample[above + 1 :] if row != []]
    wide = [row is not None and len(row) == len(header) for row in rows]
    fitting = [row is not None and _fits(row, header) for row in rows]
    constancy, fits = (sum(some) / len(rows) if rows else 1.0 for some in (wide, fitting))
    return Fit(form, [name.strip() for name in header], constancy, above, fits)


def checked_delimiter(name: str) -> str:
    """Return `name`, a parameter: empty, or a character but quote and line end; else ValueError."""
    if len(name) > 1 or name in ('"', "\r", "\n"):
        raise ValueError(f'{name!r} is no delimiter; choose one character ("\\t" is a tab), or ""')
    return name


def checked_encoding(name: str) -> str:
    """Return `name`, an encoding that Python knows, or empty; ValueError if it is another."""
    try:
        codecs.lookup(name or "utf-8")
    except LookupError:
        raise ValueError(
            f'{name!r} is no encoding; utf-8, cp1252 and utf-16-le are, or "" for what is found'
        ) from None
    return name


class Records(Iterator[Record]):
    """The records of a text, one by one; a fault spoils only its record.

    After a fault only the record's first line is refused and reading goes on with the next line, so
    a stray quote cannot swallow the rest. Two stray quotes are taken for a fault if each line
    between them is a whole row. Memory holds a record, or 128 Ki characters of an unclosed quote.
    """

    def __init__(self, lines: Iterable[str], form: Format, first: int = 1) -> None:
        """Begin with physical lines, which keep their ends; `first` is the number of the first."""
        self.width = 0  # number of columns, which may be set once it is known
        self.form = form
        self._at = first
        self._lines = iter(lines)
        self._again = deque[str]()  # lines that an unclosed quote swallowed
        self._record = list[str]()
        self._reader = self._csv()

    def __next__(self) -> Record:
        """Read one record, and no line behind it."""
        start, self._record = self._at, []
        fields: list[str] | None
        try:
            fields = next(self._reader)
        except csv.Error:
            fields = None
        lines = self._record
        if fields is None or (len(lines) > 1 and self._holds_rows(lines, fields)):
            fields = None
            self._again.extendleft(reversed(lines[1:]))
            del lines[1:]
            self._reader = self._csv()
        self._at += len(lines)
        return Record(start, "".join(lines).rstrip("\r\n"), fields)

    def _holds_rows(self, lines: list[str], fields: list[str]) -> bool:
        """Tell whether each line of a record is a row; of two columns, it begins with a number."""
        delimiter, width = self.form.delimiter, self.width
        if width < 2 or any(line.count(delimiter) != width - 1 for line in lines):
            return False
        unbroken = [field for field in fields if "\n" not in field and "\r" not in field]
        if len(unbroken) != len(fields) - 1 or any(delimiter in field for field in unbroken):
            return False
        return width > 2 or all(line.split(delimiter)[0].isdecimal() for line in lines)

    def _csv(self) -> Iterator[list[str]]:
        def lines() -> Iterator[str]:
            while line := self._again.popleft() if self._again else next(self._lines, ""):
                self._record.append(line)
                yield ESCAPED.sub(r'\1""', line) if form.backslash else line

        form = self.form
        return csv.reader(lines(), strict=True, delimiter=form.delimiter, quoting=form.quoting)


def _fits(row: Sequence[str], header: Sequence[str]) -> bool:
    """Tell whether a row is as wide as the header, empty last fields of either aside."""
    return (
        len(row) == len(header)
        or extent(row) <= len(header) < len(row)
        or extent(header) <= len(row) < len(header)
    )


def _require_clear(found: Fit, file: SourceFile, needed: Collection[str], origin: str) -> None:
    """Refuse a header if nothing tells whether it is one name or several."""
    header, between = found.header, _name_of(found.form.delimiter)
    name = "".join(header[:1])
    if len(header) == 1 and '"' in name and {*DELIMITERS} & {*name} and name not in needed:
        raise IngestError(f"{file.path}: the header has broken quotes: {name[:80]}. {origin}")
    if len(header) > 1 and not found.fitting and not (needed and found.names(needed)):
        raise IngestError(
            f"{file.path}: its header {header} has {between} between names, and no row has as many "
            f"fields. Is it one column? Then put its name in quotes, or name it. {origin}"
        )


def _columns(
    records: Records, beginning: Records, file: SourceFile, origin: str
) -> tuple[list[str], list[str]]:
    """Read the header; return the names of its columns, and notes on them."""
    header = next(records, None)
    if header is None or header.fields == []:
        return [], []
    where = f"{file.path}: the header in line {header.line}"
    if header.fields is None:
        raise IngestError(f"{where} has broken quotes: {header.text[:80]}. {origin}")
    if not is_text(header.text):
        raise IngestError(
            f"{where} has bytes that are not {records.form.encoding}: save it as UTF-8, or name "
            f"its encoding. {origin}"
        )
    records.width = len(header.fields)
    if records.form.quoting == csv.QUOTE_NONE:
        return [name.strip() for name in header.fields], []
    return header_of(header.fields, [fields for line, _, fields in beginning if line > header.line])


def _other_delimiter(head: list[str], needed: set[str], ours: str) -> str:
    """Name another delimiter if the columns are there with it."""
    other = find_format(head, needed)
    if other.form.delimiter == ours or not needed <= {*other.header}:
        return ""
    theirs = _name_of(other.form.delimiter)
    return f"It was read with {_name_of(ours)} between fields, but has {theirs}. "


def _name_of(delimiter: str) -> str:
    return DELIMITERS.get(delimiter, repr(delimiter))


def _rows(records: Records, width: int, form: Format) -> Iterator[TableRow]:
    for line, text, fields in records:
        row = fields if fields and len(fields) == width else _repaired(fields, width, form)
        fault = _fault(row, text, width)
        taken = row is not None and len(row) == width and fault in (None, reasons.EMPTY_ROW)
        yield line, text, row if taken else None, fault


def _repaired(fields: list[str] | None, width: int, form: Format) -> list[str] | None:
    """Give a record its width where nothing is guessed."""
    if not fields or form.quoting == csv.QUOTE_NONE:
        return fields
    if len(fields) == 1 < width and '"' in fields[0]:
        # opened in one column, a line that holds quotes is quoted as a whole when it is saved
        lines = io.StringIO(fields[0], newline="")
        inner = list(csv.reader(lines, delimiter=form.delimiter))
        return inner[0] if len(inner) == 1 and len(inner[0]) == width else fields
    return fields if "".join(fields[width:]).strip() else fields[:width]


def _fault(fields: list[str] | None, text: str, width: int) -> str | None:
    if not is_text(text):
        return reasons.BAD_CHARACTERS
    if fields is None:
        return reasons.LONG_FIELD if len(text) > csv.field_size_limit() else reasons.BAD_QUOTES
    if not "".join(fields).strip():
        return reasons.EMPTY_ROW
    return None if len(fields) == width else reasons.BAD_WIDTH
