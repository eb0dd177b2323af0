"""A file's form, its columns, and statistics of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from tasks.tables.delimiters import DECLARED, LINES, NAMES, find_format, fit
from tasks.tables.encodings import UTF_8, is_text, pieces, utf_16
from tasks.tables.read_table import open_table
from tasks.tables.records import Format
from tasks.tables.rejected import CHUNK, RejectedRows
from tasks.tables.source_files import IngestError, SourceFile
from tasks.tables.text import file_encoding, text_lines

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
    form = _format(file, requested)
    table = open_table(file, (), ORIGIN, rejected, form)
    names = table.names
    if not names:
        raise IngestError(f"{path} has no header line: write the columns' names above the rows.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise IngestError(f"{path} has the column {twice} more than once: rename one of them.")
    chunks = table.chunks({name: name for name in names})
    frames = [chunk.good for chunk in islice(chunks, -(-ROWS // CHUNK))]
    rows = pl.concat([pl.DataFrame(schema=dict.fromkeys(names, pl.String)), *frames]).head(ROWS)
    if rows.is_empty():
        raise IngestError(f"{path} has a header and no rows. {ORIGIN}")
    stripped = rows.select(pl.all().str.strip_chars())
    columns = {name: ColumnStats(name, stripped[name].to_list()) for name in names}
    return FileStats(path, form, rejected.read_as()[0].partition(": ")[2], columns)


def _format(file: SourceFile, requested: Format) -> Format:
    """Return the delimiter and the encoding of a text, none of any other table."""
    if not file.is_text:
        return Format()
    head = next(file.blocks(), b"")
    is_unicode = bool(utf_16(head)) or all(map(is_text, pieces(file.blocks(), UTF_8)))
    encoding = file_encoding(file, ORIGIN, "" if is_unicode else requested.encoding)
    if not file.is_delimited:
        return Format(encoding=encoding)
    lines = list(islice(text_lines(file, ORIGIN, RejectedRows(), encoding), LINES))
    return Format(_delimiter(lines, requested.delimiter, file.path), encoding)


def _delimiter(lines: list[str], requested: str, path: str) -> str:
    """Return the delimiter; of one title a line, one that leaves the first line whole."""
    declared = DECLARED.fullmatch(lines[0]) if lines else None
    detected = find_format(lines)
    whole = [one for one in NAMES if len(fit(lines, Format(one)).header) == 1]
    if requested and detected.is_table and not fit(lines, Format(requested)).is_table:
        raise IngestError(
            f"{path} is no table with {NAMES.get(requested, repr(requested))} between fields; it "
            f"has {NAMES[detected.form.delimiter]}. {ORIGIN}"
        )
    if requested or declared:
        return requested or declared[1]  # type: ignore[index]  # one of the two is there
    return whole[0] if whole and not detected.is_table else detected.form.delimiter
