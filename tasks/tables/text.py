r"""Bytes to physical lines, noted with their encoding (`tasks/tables/encodings.py`).

A line ends with ``\n``, ``\r\n`` or ``\r`` and nothing else. Lines are read as they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tasks.tables.encodings import NAMES, found_in, is_text, pieces, python_name, whole_lines
from tasks.tables.rejected import BAD_CHARACTERS, EMPTY_ROW, RejectedRows, Row
from tasks.tables.source_files import IngestError, SourceFile, require_text


def file_encoding(file: SourceFile, origin: str, encoding: str = "") -> str:
    """Return Python's name of a file's encoding, the one that is given or else the one found.

    Raises:
        IngestError: none is given, and the file is no text.
    """
    if encoding:
        return python_name(encoding, next(file.blocks(), b""))
    require_text(file, origin)
    return found_in(file.blocks)


def text_lines(
    file: SourceFile, origin: str, rejected: RejectedRows, encoding: str
) -> Iterator[str]:
    """Yield the lines of a file with their ends as they stand; `encoding` is of `file_encoding`.

    `rejected` notes the encoding and, at the end, the first line that does not fit it.

    Raises:
        IngestError: the encoding does not fit at all.
    """
    name = NAMES.get(encoding, encoding)
    rejected.readings[file.name] = name
    number, bad = 0, list[int]()
    try:
        for lines in whole_lines(pieces(file.blocks(), encoding)):
            if not is_text("".join(lines)):
                bad += [at for at, line in enumerate(lines, number + 1) if not is_text(line)]
            number += len(lines)
            yield from lines
    except UnicodeError as error:
        raise IngestError(f"{file.path} is not {encoding}: {error}. {origin}") from None
    if bad:
        rejected.causes[file.name] = (
            f"{file.name} was read as {name}, which {len(bad)} of its {number} lines are not; "
            f"first bad byte in line {bad[0]}: save it as UTF-8, or name its encoding"
        )


def line_rows(
    path: Path, name: str, origin: str, rejected: RejectedRows, encoding: str = ""
) -> Iterator[Row]:
    """Yield one row per line, its text under `name`; blank lines and bad bytes are refused."""
    file = SourceFile.at(path, origin)
    lines = text_lines(file, origin, rejected, file_encoding(file, origin, encoding))
    for number, line in enumerate(lines, start=1):
        rejected.rows[file.name] += 1
        text = line.rstrip("\r\n")
        row = Row(file.name, number, text, {name: text})
        if not is_text(text):
            rejected.refuse(row, BAD_CHARACTERS)
        elif not text.strip():
            rejected.refuse(row, EMPTY_ROW)
        else:
            yield row
