"""Bytes to physical lines: the encoding by its byte order mark, and nothing lost on bad bytes.

UTF-8 with or without a mark, UTF-16 with one. A byte that the encoding does not allow becomes a
lone surrogate, which no valid text holds: `is_text` finds the row, and the rest of the file lives.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from pathlib import Path

from tasks.readers.outside import read_bytes, shown
from tasks.readers.rejected import BAD_CHARACTERS, EMPTY_ROW, Ledger, Row

UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def decode(data: bytes) -> str:
    """Decode `data`, without byte order mark; what cannot be decoded becomes lone surrogates."""
    encoding = UTF_16.get(data[:2])
    if encoding is None:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    whole = len(data) // 2 * 2
    cut_off = "".join(chr(0xDC00 + byte) for byte in data[whole:])
    return data[2:whole].decode(encoding, "surrogatepass") + cut_off


def is_text(text: str) -> bool:
    """Tell whether `text` was decoded without a fault and holds no NUL."""
    return NOT_TEXT.search(text) is None


def physical_lines(path: Path, origin: str) -> list[str]:
    r"""Read the lines of a file with their ends (``\n``, ``\r\n`` or ``\r``) as they stand."""
    # newline="" splits at all three and translates none, as the csv module asks for
    return list(io.StringIO(decode(read_bytes(path, origin)), newline=""))


def line_rows(path: Path, name: str, origin: str, ledger: Ledger) -> Iterator[Row]:
    """Yield one row per line, its text under `name`; blank lines and bad bytes are refused."""
    for number, line in enumerate(physical_lines(path, origin), start=1):
        ledger.rows[shown(path)] += 1
        text = line.rstrip("\r\n")
        row = Row(shown(path), number, text, {name: text})
        if not is_text(text):
            ledger.refuse(row, BAD_CHARACTERS)
        elif not text.strip():
            ledger.refuse(row, EMPTY_ROW)
        else:
            yield row
