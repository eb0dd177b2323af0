r"""Bytes to physical lines, noted in the ledger with their encoding (`tasks/readers/encodings.py`).

A line ends with ``\n``, ``\r\n`` or ``\r`` and nothing else.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from tasks.readers.encodings import SHOWN, decode, is_text
from tasks.readers.outside import IngestError, read_bytes, require_text, shown
from tasks.readers.rejected import BAD_CHARACTERS, EMPTY_ROW, Ledger, Row


def physical_lines(path: Path, origin: str, ledger: Ledger, encoding: str = "") -> list[str]:
    """Read the lines of a file with their ends as they stand.

    Args:
        path: the file.
        origin: where it comes from, for messages.
        ledger: is told the encoding, and where the first line is that it does not fit.
        encoding: a name that Python knows; empty: as found.

    Raises:
        IngestError: there is no such file, or it is no text.
    """
    data = read_bytes(path, origin)
    if not encoding:
        require_text(data, path, origin)
    try:
        text, encoding = decode(data, encoding)
    except UnicodeDecodeError as error:
        raise IngestError(f"{path} is not {encoding}: {error}. {origin}") from None
    # newline="" splits at all three and translates none, as the csv module asks for
    lines = list(io.StringIO(text, newline=""))
    name = SHOWN.get(encoding, encoding)
    ledger.readings[shown(path)] = name
    bad = [number for number, line in enumerate(lines, start=1) if not is_text(line)]
    if bad:
        ledger.causes[shown(path)] = (
            f"{shown(path)} was read as {name}, which {len(bad)} of its {len(lines)} lines are "
            f"not; first bad byte in line {bad[0]}: save it as UTF-8, or name its "
            "encoding"
        )
    return lines


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
