"""A file as it is first looked at: how it is written, its columns, and what they are like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.readers.csv_rows import note_delimiter
from tasks.readers.delimiters import NAMES, find_delimiter, fit
from tasks.readers.encodings import UTF_8, UTF_16, decode, is_text
from tasks.readers.outside import IngestError, read_bytes
from tasks.readers.parquet_rows import parquet_header, parquet_rows
from tasks.readers.records import Format, records
from tasks.readers.rejected import Ledger
from tasks.readers.rows import PARQUET
from tasks.readers.text import physical_lines

LINES = 50_000  # that are looked at
ORIGIN = "It is the file that was named for the profile."


@dataclass(frozen=True)
class Column:
    """The values of one column, without white space around them."""

    name: str
    values: list[str]

    @property
    def filled(self) -> list[str]:
        """Values that hold something."""
        return [value for value in self.values if value]

    @property
    def distinct(self) -> int:
        """How many values there are, the empty one left out."""
        return len(set(self.filled))

    @property
    def is_wordy(self) -> bool:
        """Tell whether it may hold titles: three in four values have letters and are no codes."""
        return self.share(lambda value: any(map(str.isalpha, value)) and not is_code(value)) > 0.75

    @property
    def is_coded(self) -> bool:
        """Tell whether three in four values are codes."""
        return self.share(is_code) > 0.75

    @property
    def repeats(self) -> bool:
        """Tell whether values stand in several rows, as an occupation's do with one title a row."""
        return 1 < self.distinct <= 0.9 * len(self.filled)

    def decides(self, other: Column) -> bool:
        """Tell whether rows with one value here have one value there, but for one in fifty."""
        pairs = [pair for pair in zip(self.values, other.values, strict=True) if all(pair)]
        first: dict[str, str] = {}
        agree = sum(first.setdefault(key, value) == value for key, value in pairs)
        return bool(pairs) and agree >= 0.98 * len(pairs)

    def share(self, holds: Callable[[str], bool]) -> float:
        """Return the share of the values for which `holds`, empty ones left out."""
        return sum(map(holds, self.filled)) / max(1, len(self.filled))


@dataclass(frozen=True)
class LookedAt:
    """A table: where it lies, how it is read, and its columns by their names, in order."""

    path: Path
    form: Format
    read_as: str
    columns: Mapping[str, Column]


def is_code(value: str) -> bool:
    """Tell whether a value is one word with a digit, or an address."""
    one_word = not any(map(str.isspace, value))
    return one_word and (any(map(str.isdigit, value)) or "://" in value)


def look_at(path: Path, asked: Format) -> LookedAt:
    """Read the beginning of a table.

    Args:
        path: Parquet, or delimited text with a header.
        asked: a delimiter that holds, and an encoding of a file that is no plain UTF-8 or UTF-16.

    Raises:
        IngestError: there is no such file, it is no table, has no header or no rows, or one name
            twice, or the delimiter that was asked for does not part it.
    """
    ledger = Ledger()
    if path.suffix == PARQUET:
        names, form = parquet_header(path, ORIGIN), Format()
        read = parquet_rows(path, {name: name for name in names}, ORIGIN, ledger)
        rows = [[row[name] for name in names] for row in read]
    else:
        names, rows, form = _delimited(path, asked, ledger)
    if not names:
        raise IngestError(f"{path} has no header line: write the columns' names above the rows.")
    if not rows:
        raise IngestError(f"{path} has a header and no rows. {ORIGIN}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise IngestError(f"{path} has the column {twice} more than once: rename one of them.")
    columns = {
        name: Column(name, [row[at].strip() for row in rows]) for at, name in enumerate(names)
    }
    return LookedAt(path, form, _said(ledger), columns)


def _delimited(
    path: Path, asked: Format, ledger: Ledger
) -> tuple[list[str], list[list[str]], Format]:
    """Return header, rows as wide as it, and the format that was found."""
    data = read_bytes(path, ORIGIN)
    encoding = "" if _is_unicode(data) else asked.encoding
    lines = physical_lines(path, ORIGIN, ledger, encoding)
    found = find_delimiter(lines)
    delimiter = asked.delimiter or found.delimiter
    if found.is_table and not fit(lines, delimiter).is_table:
        raise IngestError(
            f"{path} is no table with {NAMES.get(delimiter, repr(delimiter))} between fields; it "
            f"has {NAMES[found.delimiter]}. {ORIGIN}"
        )
    form = Format(delimiter, decode(data, encoding).encoding)
    note_delimiter(ledger, path, delimiter)
    first, *rest = [fields for _, _, fields in records(lines[:LINES], form)] or [None]
    names = [name.strip() for name in first or []]
    return names, [row for row in rest if row and len(row) == len(names)], form


def _is_unicode(data: bytes) -> bool:
    if data[:2] in UTF_16:
        return True
    text = data.decode(UTF_8, "surrogateescape")
    return is_text(text)


def _said(ledger: Ledger) -> str:
    """Say how the file was read, without its place."""
    return ledger.read_as()[0].partition(": ")[2]
