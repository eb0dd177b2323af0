"""The first sheet of an Excel workbook to chunks under our names, its cells as text.

A row's line is its number in the sheet, its text its cells as a CSV line. The sheet is in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

from tasks.tables.cells import cell_text, csv_line
from tasks.tables.encodings import is_text
from tasks.tables.header import header_of, header_place
from tasks.tables.packed import DAMAGED
from tasks.tables.rejected import (
    BAD_CHARACTERS,
    BAD_WIDTH,
    CHUNK,
    EMPTY_ROW,
    Chunk,
    RejectedRows,
    escaped,
)
from tasks.tables.source_files import IngestError, SourceFile, require_columns

INSPECTED = 2000  # rows by which the header is found


@dataclass(frozen=True)
class Workbook:
    """A sheet whose header has been found, in row `header_row`, counted from 1."""

    file: SourceFile
    names: list[str]
    notes: list[str]
    rows: Sequence[Sequence[object]]
    header_row: int
    origin: str

    @classmethod
    def open(
        cls,
        file: SourceFile,
        needed_columns: Collection[str],
        origin: str,
        rejected: RejectedRows,
    ) -> Workbook:
        """Find the header of the first visible sheet that holds cells; `rejected` notes it.

        Raises:
            IngestError: it is no readable workbook, or has no cells.
        """
        rejected.readings[file.name] = "Excel"
        name, others, rows = _sheet(file, origin)
        beginning = [[cell_text(cell) for cell in row] for row in rows[:INSPECTED]]
        place = header_place(beginning, needed_columns)
        names, notes = header_of(beginning[place], beginning[place + 1 :])
        if lost := sum(any(map(str.strip, row)) for row in beginning[:place]):
            notes = [f"{lost} row{'s' * (lost > 1)} above the header left out", *notes]
        if others:
            notes = [f"sheet {name!r}; not read: {', '.join(map(repr, others))}", *notes]
        rejected.readings[file.name] += "".join(f"; {note}" for note in notes)
        return cls(file, names, notes, rows, place + 1, origin)

    def chunks(self, columns: Mapping[str, str]) -> Iterator[Chunk]:
        """Yield the rows, with columns by our names; IngestError if one is missing or twice."""
        require_columns(self.names, columns.values(), self.file.path, self.origin)
        width = len(self.names)
        below = islice(enumerate(self.rows, start=1), self.header_row, None)
        while some := list(islice(below, CHUNK)):
            rows = [[cell_text(cell) for cell in row] for _, row in some]
            faults = [_fault(row, width) for row in rows]
            texts = [
                escaped(csv_line(row[:width] if not any(row[width:]) else row)) for row in rows
            ]
            good = [
                [""] * width if fault else row[:width]
                for row, fault in zip(rows, faults, strict=True)
            ]
            yield Chunk.of(([line for line, _ in some], texts, faults), good, self.names, columns)


def _sheet(file: SourceFile, origin: str) -> tuple[str, list[str], list[Sequence[object]]]:
    """Return the first visible sheet with cells: its name, those of such others, its rows."""
    try:
        with file.open() as handle, CalamineWorkbook.from_filelike(handle) as book:
            filled = [
                sheet
                for meta in book.sheets_metadata
                if meta.visible == SheetVisibleEnum.Visible
                and (sheet := book.get_sheet_by_name(meta.name)).end is not None
            ]
            if filled:
                rows = list[Sequence[object]](filled[0].iter_rows())
    except PasswordError:
        raise IngestError(f"{file.path} has a password: save it without one. {origin}") from None
    except (CalamineError, *DAMAGED) as error:
        raise IngestError(f"{file.path} is no readable workbook: {error}. {origin}") from None
    if not filled:
        raise IngestError(f"{file.path} has no sheet with cells. {origin}")
    while rows and not any(cell_text(cell).strip() for cell in rows[-1]):
        rows.pop()
    return filled[0].name, [sheet.name for sheet in filled[1:]], rows


def _fault(row: Sequence[str], width: int) -> str | None:
    if not is_text("".join(row)):
        return BAD_CHARACTERS
    if not "".join(row).strip():
        return EMPTY_ROW
    return BAD_WIDTH if "".join(row[width:]).strip() else None
