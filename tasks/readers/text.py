r"""Bytes to physical lines, noted in the ledger with their encoding (`tasks/readers/encodings.py`).

A line ends with ``\n``, ``\r\n`` or ``\r`` and nothing else. Lines are read as they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tasks.readers.encodings import SHOWN, found_in, is_text, pieces, python_name, whole_lines
from tasks.readers.outside import IngestError, blocks, require_file, require_text, shown
from tasks.readers.rejected import BAD_CHARACTERS, EMPTY_ROW, Ledger, Row


def physical_lines(path: Path, origin: str, ledger: Ledger, encoding: str = "") -> list[str]:
    """Read all that `streamed_lines` yields."""
    return list(streamed_lines(path, origin, ledger, encoding))


def streamed_lines(path: Path, origin: str, ledger: Ledger, encoding: str = "") -> Iterator[str]:
    """Yield the lines of a file with their ends as they stand.

    Args:
        path: the file.
        origin: where it comes from, for messages.
        ledger: is told the encoding before the first line, and behind the last one where the first
            line is that it does not fit.
        encoding: a name that Python knows; empty: as found.

    Raises:
        IngestError: there is no such file, or it is no text.
    """
    require_file(path, origin)
    if not encoding:
        require_text(path, origin)
    head = next(blocks(path), b"")
    python = python_name(encoding, head) if encoding else found_in(lambda: blocks(path))
    ledger.readings[shown(path)] = SHOWN.get(python, python)
    number, bad = 0, list[int]()
    try:
        for lines in whole_lines(pieces(blocks(path), python)):
            if not is_text("".join(lines)):
                bad += [at for at, line in enumerate(lines, number + 1) if not is_text(line)]
            number += len(lines)
            yield from lines
    except UnicodeError as error:
        raise IngestError(f"{path} is not {python}: {error}. {origin}") from None
    if bad:
        ledger.causes[shown(path)] = (
            f"{shown(path)} was read as {SHOWN.get(python, python)}, which {len(bad)} of its "
            f"{number} lines are not; first bad byte in line {bad[0]}: save it as UTF-8, or name "
            "its encoding"
        )


def line_rows(
    path: Path, name: str, origin: str, ledger: Ledger, encoding: str = ""
) -> Iterator[Row]:
    """Yield one row per line, its text under `name`; blank lines and bad bytes are refused."""
    for number, line in enumerate(physical_lines(path, origin, ledger, encoding), start=1):
        ledger.rows[shown(path)] += 1
        text = line.rstrip("\r\n")
        row = Row(shown(path), number, text, {name: text})
        if not is_text(text):
            ledger.refuse(row, BAD_CHARACTERS)
        elif not text.strip():
            ledger.refuse(row, EMPTY_ROW)
        else:
            yield row
