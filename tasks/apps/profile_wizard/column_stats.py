"""A file's form, its columns, and statistics of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from tasks.tables.delimited import Delimited
from tasks.tables.delimiters import NAMES, find_delimiter, fit
from tasks.tables.encodings import UTF_8, UTF_16, is_text, pieces
from tasks.tables.read_table import read_header, read_rows
from tasks.tables.records import Format
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError, SourceFile

ROWS = 50_000  # that are looked at
ORIGIN = "It is the file that was named for the profile."
Choices = dict[str, list[str]]
"""Our name to the column that was chosen, and behind it others that may hold the same."""


@dataclass(frozen=True)
class ColumnStats:
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

    def determines(self, other: ColumnStats) -> bool:
        """Tell whether rows with one value here have one value there, but for one in fifty."""
        pairs = [pair for pair in zip(self.values, other.values, strict=True) if all(pair)]
        first: dict[str, str] = {}
        agree = sum(first.setdefault(key, value) == value for key, value in pairs)
        return bool(pairs) and agree >= 0.98 * len(pairs)

    def share(self, holds: Callable[[str], bool]) -> float:
        """Return the share of the values for which `holds`, empty ones left out."""
        return sum(map(holds, self.filled)) / max(1, len(self.filled))


@dataclass(frozen=True)
class FileStats:
    """A table: how it is read, its columns by their names, in order, and which were chosen.

    `others` are further files with these columns, `more_titles` further columns of titles.
    """

    path: Path
    form: Format
    read_as: str
    columns: Mapping[str, ColumnStats]
    choices: Choices = field(default_factory=dict)
    others: tuple[Path, ...] = ()
    more_titles: tuple[str, ...] = ()

    @property
    def paths(self) -> list[Path]:
        """All files."""
        return [self.path, *self.others]

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters by which the stage `ingest` reads it."""
        columns: dict[str, str | list[str]] = {
            role: choice[0] for role, choice in self.choices.items()
        }
        if self.more_titles:
            columns["title"] = [self.choices["title"][0], *self.more_titles]
        return {
            "columns": columns,
            "delimiter": self.form.delimiter,
            "encoding": self.form.encoding,
        }


def is_code(value: str) -> bool:
    """Tell whether a value is one word with a digit, or an address."""
    one_word = not any(map(str.isspace, value))
    return one_word and (any(map(str.isdigit, value)) or "://" in value)


def inspect_file(path: Path, requested: Format) -> FileStats:
    """Read the beginning of a table.

    `requested`: a delimiter that holds, and an encoding of a file that is no plain UTF-8 or UTF-16.

    Raises:
        IngestError: there is no such file, it is no table, has no header or no rows, or one name
            twice, or the requested delimiter does not part it.
    """
    file, rejected = SourceFile.at(path, ORIGIN), RejectedRows()
    form = Format() if file.is_parquet else _format(file, requested)
    names = read_header(file, (), ORIGIN, form)
    if not names:
        raise IngestError(f"{path} has no header line: write the columns' names above the rows.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise IngestError(f"{path} has the column {twice} more than once: rename one of them.")
    read = read_rows(file, {name: name for name in names}, ORIGIN, rejected, form)
    rows = list(islice(read, ROWS))
    if not rows:
        raise IngestError(f"{path} has a header and no rows. {ORIGIN}")
    columns = {name: ColumnStats(name, [row[name] for row in rows]) for name in names}
    return FileStats(path, form, rejected.read_as()[0].partition(": ")[2], columns)


def _format(file: SourceFile, requested: Format) -> Format:
    head = next(file.blocks(), b"")
    is_unicode = head[:2] in UTF_16 or all(map(is_text, pieces(file.blocks(), UTF_8)))
    form = Format(encoding="" if is_unicode else requested.encoding)
    opened = Delimited.open(file, (), ORIGIN, RejectedRows(), form)
    detected = find_delimiter(opened.head)
    delimiter = requested.delimiter or opened.form.delimiter
    if detected.is_table and not fit(opened.head, delimiter).is_table:
        raise IngestError(
            f"{file.path} is no table with {NAMES.get(delimiter, repr(delimiter))} between fields; "
            f"it has {NAMES[detected.delimiter]}. {ORIGIN}"
        )
    return replace(opened.form, delimiter=delimiter)
