"""JSON Lines, one object a line, to chunks under our names; each bad line has its fault.

The columns are the members of the first `OBJECTS` objects, in the order of their first use; a later
object with another member is refused. A missing member is empty, a number or a list is text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import islice

from tasks.tables.cells import cell_text
from tasks.tables.encodings import NAMES, is_text
from tasks.tables.rejected import BAD_CHARACTERS, CHUNK, EMPTY_ROW, Chunk, RejectedRows, escaped
from tasks.tables.source_files import IngestError, SourceFile, require_columns
from tasks.tables.text import file_encoding, text_lines

OBJECTS = 20_000
BAD_JSON = "no JSON object in the line"
NEW_MEMBER = f"member that none of the first {OBJECTS:,} lines has"


@dataclass(frozen=True)
class JsonLines:
    """A file whose members are known."""

    file: SourceFile
    names: list[str]
    notes: list[str]
    encoding: str
    rejected: RejectedRows
    origin: str

    @classmethod
    def open(
        cls, file: SourceFile, origin: str, rejected: RejectedRows, encoding: str
    ) -> JsonLines:
        """Find the members; IngestError if there is no object, or the file is no text."""
        encoding = file_encoding(file, origin, encoding)
        lines = text_lines(file, origin, RejectedRows(), encoding)
        members = dict[str, None]()
        for line in islice(lines, OBJECTS):
            members |= dict.fromkeys(_object(line) or ())
        if not members:
            raise IngestError(f"{file.path} has no line with a JSON object. {origin}")
        return cls(file, list(members), [], encoding, rejected, origin)

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Yield the rows, with members by our names; IngestError if one is missing."""
        require_columns(self.names, columns.values(), self.file.path, self.origin)
        lines = text_lines(self.file, self.origin, self.rejected, self.encoding)
        known = frozenset(self.names)
        numbered = enumerate(lines, start=1)
        while some := list(islice(numbered, CHUNK)):
            self.rejected.readings[self.file.name] = (
                f"{NAMES.get(self.encoding, self.encoding)}, JSON Lines"
            )
            read = [(number, line.rstrip("\r\n"), _object(line)) for number, line in some]
            faults = [_fault(text, values, known) for _, text, values in read]
            rows = [
                [cell_text((values or {}).get(name)) if not fault else "" for name in self.names]
                for (_, _, values), fault in zip(read, faults, strict=True)
            ]
            places = ([number for number, _, _ in read], [escaped(text) for _, text, _ in read])
            yield Chunk.of((*places, faults), rows, self.names, columns)


def _object(line: str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _fault(text: str, values: Mapping[str, object] | None, known: Set[str]) -> str | None:
    if not text.strip():
        return EMPTY_ROW
    if values is None:
        return BAD_JSON if is_text(text) else BAD_CHARACTERS
    if not is_text("".join([*values, *map(cell_text, values.values())])):
        return BAD_CHARACTERS
    return None if values.keys() <= known else NEW_MEMBER
