"""Tables, their chunks and rows: how many rows each file has, which were refused, and why.

Every row that does not reach a frame is noted with file, line and reason, in frames to save memory.
`NOTICES` lose nothing, or what was to be left out; other reasons count to `max_rejected_share`.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Self

import polars as pl

from tasks.io.schemas import REJECTED
from tasks.tables.source_files import IngestError

BAD_CHARACTERS = "bytes that are not text"
BAD_QUOTES = "broken quotes"
LONG_FIELD = f"field of more than {csv.field_size_limit():,} characters"
BAD_WIDTH = "wrong number of fields"
BAD_CODE = "malformed code"
UNKNOWN_CODE = "code not in the hierarchy"
NO_GROUP = "occupation without a group in any file"
UNKNOWN_OCCUPATION = "unknown occupation"
DUPLICATE_CODE = "duplicate code"
DUPLICATE_OCCUPATION = "duplicate occupation"
CONFLICT = "label or codes differ from an earlier row"
EMPTY_ROW = "empty row"
DUPLICATE_ROW = "duplicate row"
DUPLICATE_TITLE = "duplicate title"
LEFT_OUT = "title to be left out"
NOT_ANSWERED = "not answered"
UNSCORED = "pair that the publisher left without a score"
NOTICES = frozenset(
    {EMPTY_ROW, DUPLICATE_ROW, DUPLICATE_TITLE, LEFT_OUT, NO_GROUP, NOT_ANSWERED, UNSCORED}
)
CHUNK = 65_536  # rows that are held as Python objects, or looked at in one frame


def empty(name: str) -> str:
    """Name the reason of a required field that holds nothing."""
    return f"empty {name}"


def escaped(text: str) -> str:
    """Return `text` with what is undecodable shown as escapes, so that any file can hold it."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Row:
    """One record: where it starts (`line` counts from 1), its text, its values by our names."""

    file: str
    line: int
    text: str
    values: dict[str, str]

    def __getitem__(self, name: str) -> str:
        """Return the value under `name`, without white space around it."""
        return self.values[name].strip()

    def about(self, title: str) -> Self:
        """Return the row with one of its titles as text, for records that hold many."""
        return replace(self, text=title)


# line, text, fields and fault of a row; a faulty one has no fields, or those of an empty row
TableRow = tuple[int, str, Sequence[str] | None, str | None]


class Chunk(NamedTuple):
    """Rows of a table, in its order; `values` of a faulty row are empty or white space."""

    places: pl.DataFrame  # `line: UInt32`, `text: String` (the record), `fault: String` or null
    values: pl.DataFrame  # the columns under our names, all text and never null

    @property
    def good(self) -> pl.DataFrame:
        """The values of the rows without a fault."""
        return self.values.filter(self.places["fault"].is_null())

    def rows(self, file: str) -> Iterator[tuple[Row, str | None]]:
        """Yield each row of the file of that name, and its fault."""
        values = self.values.iter_rows(named=True)
        for (line, text, fault), row in zip(self.places.iter_rows(), values, strict=True):
            yield Row(file, line, text, row), fault


@dataclass(frozen=True)
class Table:
    """A table whose columns are known, none without a header; its rows can be read once."""

    path: str
    origin: str
    names: list[str]
    read: Callable[[Mapping[str, str]], Iterator[Chunk]]  # yields the rows, by our names
    notes: list[str] = field(default_factory=list)  # tell a user what is unusual
    hint: str = ""  # tells what else may be wrong where a column is missing
    delimiter: str = ","  # between the fields of a blank row

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Return the rows; IngestError without a header, or if a column is missing or twice."""
        if not self.names:
            raise IngestError(f"{self.path} has no header line. {self.origin}")
        if absent := [name for name in columns.values() if name not in self.names]:
            raise IngestError(
                f"{self.path} has no column {absent}, only {self.names}. {self.hint}{self.origin}"
            )
        if twice := [name for name in columns.values() if self.names.count(name) > 1]:
            raise IngestError(f"{self.path} has the column {twice} more than once. {self.origin}")
        return self.read(columns)


def in_chunks(
    rows: Iterator[TableRow], names: Sequence[str], columns: Mapping[str, str]
) -> Iterator[Chunk]:
    """Put rows of the columns `names` under our names, as `columns` maps these to theirs."""
    schema = {"line": pl.UInt32, "text": pl.String, "fault": pl.String}
    nothing = [""] * len(names)
    while chunk := [*islice(rows, CHUNK)]:
        lines, _, fields, faults = zip(*chunk, strict=True)
        readable = [escaped(text) if fault else text for _, text, _, fault in chunk]
        by_position = [*zip(*(row or nothing for row in fields), strict=True)]
        values = [
            pl.Series(ours, by_position[names.index(theirs)], pl.String)
            for ours, theirs in columns.items()
        ]
        yield Chunk(pl.DataFrame([lines, readable, faults], schema=schema), pl.DataFrame(values))


@dataclass(slots=True)
class RejectedRows:
    """Collects what was read and what was refused, in the order of reading."""

    rows: Counter[str] = field(default_factory=Counter)
    readings: dict[str, str] = field(default_factory=dict)  # file -> how it was read
    causes: dict[str, str] = field(default_factory=dict)  # file -> why rows are likely to be bad
    _frames: list[pl.DataFrame] = field(default_factory=list)  # of `REJECTED`
    _latest: list[tuple[str, int, str, str]] = field(default_factory=list)  # behind the frames

    @property
    def refused(self) -> list[tuple[str, int, str, str]]:
        """All refused rows as (file, line, reason, text)."""
        return self.frame().rows()

    def take(self, rows: Iterable[tuple[Row, str | None]]) -> Iterator[Row]:
        """Yield the rows without a fault; count all, and refuse the others."""
        for row, fault in rows:
            self.rows[row.file] += 1
            if fault:
                self.refuse(row, fault)
            else:
                yield row

    def refuse(self, row: Row, reason: str) -> None:
        """Note that `row` is not taken; undecodable characters are shown as escapes."""
        self._latest.append((row.file, row.line, reason, escaped(row.text)))
        if len(self._latest) >= CHUNK:
            self._put_away()

    def refuse_all(self, frame: pl.DataFrame) -> None:
        """Note that the rows of a frame (schema `REJECTED`) are not taken."""
        self._put_away()
        self._frames.append(frame)

    def frame(self) -> pl.DataFrame:
        """Return all refused rows (columns of `REJECTED`)."""
        self._put_away()
        return pl.concat([pl.DataFrame(schema=REJECTED), *self._frames])

    def _put_away(self) -> None:
        if self._latest:
            self._frames.append(pl.DataFrame(self._latest, schema=REJECTED, orient="row"))
            self._latest = []

    def read_as(self) -> list[str]:
        """Return one line a file, for the log: format and encoding, or what is wrong with it."""
        causes = {file: f"; {cause}" for file, cause in self.causes.items()}
        return [f"{file}: {how}{causes.get(file, '')}" for file, how in self.readings.items()]

    def likely_cause(self) -> str:
        """Return what a message about refused rows ends with; empty if nothing is known."""
        return "".join(f" {cause}." for cause in self.causes.values())

    @property
    def errors(self) -> int:
        """Rows refused for a fault; notices are none."""
        return sum(n for reason, n in self.reasons().items() if reason not in NOTICES)

    def reasons(self) -> dict[str, int]:
        """Count refused rows per reason."""
        return dict(self.frame()["reason"].value_counts().sort("reason").iter_rows())

    def by_file(self) -> dict[str, dict[str, int]]:
        """Count refused rows per file and reason."""
        counted: dict[str, dict[str, int]] = {}
        counts = self.frame().group_by("file", "reason").len().sort("file", "reason")
        for file, reason, count in counts.iter_rows():
            counted.setdefault(file, {})[reason] = count
        return counted


def require_few_refused(rejected: RejectedRows, max_rejected_share: float, section: str) -> None:
    """Raise an IngestError if more than `max_rejected_share` of the rows read are faulty."""
    errors, read = rejected.errors, sum(rejected.rows.values())
    if errors > max_rejected_share * read:
        reader = f"{section}.taxonomy.reader" if section == "ingest" else f"{section}.reader"
        raise IngestError(
            f"{errors} of {read} rows were rejected, more than {section}.max_rejected_share "
            f"= {max_rejected_share:g}: {rejected.reasons()}. Look at "
            f"data/{section}/rejected.parquet and check {reader}; repair the files or "
            f"raise the parameter.{rejected.likely_cause()}"
        )
