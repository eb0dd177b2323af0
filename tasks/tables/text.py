r"""Bytes to lines of text: in which encoding, if that is beyond doubt, and nothing lost.

A byte order mark decides. Without one a file is UTF-8, unless none of its characters beyond ASCII
is valid UTF-8 and all make sense as Windows-1252, the superset of Latin-1. A byte that the encoding
does not allow becomes a lone surrogate, which no valid text holds: `is_text` finds the line. Only
``\n``, ``\r\n`` and ``\r`` end a line. Files are read block by block.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from tasks.tables.rejected import BAD_CHARACTERS, EMPTY_ROW, RejectedRows, Row
from tasks.tables.source_files import IngestError, SourceFile

OTHER_KINDS = {  # of file, by how they begin, and what to do
    b"PK\x03\x04": "an Excel workbook or a zip archive: let its name end in .xlsx or .zip",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Excel workbook: save it as .xlsx, without a password",
    b"\x1f\x8b": "packed with gzip: let its name end in .gz",
    b"%PDF": "a PDF: save the table as CSV (UTF-8)",
    b"PAR1": "a Parquet file: let its name end in .parquet",
}
NULS = 0.2  # share of the first bytes that only binary files have
UTF_8, WINDOWS = "utf-8", "cp1252"
UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
ENCODINGS = {
    UTF_8: "UTF-8",
    WINDOWS: "Windows-1252 (Latin-1)",
    **dict.fromkeys(UTF_16.values(), "UTF-16"),
}
NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
ALPHABETS = (
    frozenset("àâæçéèêëîïôœùûüÿäößáíóúñìòåøªº"),  # French, German, Spanish, Italian, Swedish ...
    frozenset("áàâãçéêíóôõúüªº"),  # Portuguese
    frozenset("áéíóúýþæöð"),  # Icelandic
    frozenset("äöõü"),  # Estonian
)
NEVER_ASCII = re.compile(rb"[^\t\n\r\x20-\x7e\x00]")
FEW_ZEROS = 0.01  # share of the bytes that a text of one byte a character may hold by a fault
STRAY = 0.02  # of the characters beyond ASCII: a name from elsewhere, a damaged byte
UNWESTERN = re.compile(
    r"ã[^\Weos]|æ[aeiu]|è[aeijkouáíù]|ê(?:[bdgkz]|\b)|[ìòù]\w|ï[amo]|ñ(?![aeiouáéíóúü])"
    r"|õ(?:[acfgkovzáéü]|\b)|ø[aeioáíù]|[aeiouáéíóúý]ø\b|û(?![lrt])|œ(?![un])"
)
"""Letters that no language of `ALPHABETS` writes before such a one or at a word's end. Windows-1250
read as Windows-1252 has them: ř as ø before a vowel, ę as ê before g, ő as a last õ."""
WITHIN_WORDS = frozenset("’‘´·\xad")
LETTERS = re.compile(r"[^\W\d_]+")


def file_encoding(file: SourceFile, origin: str, encoding: str = "") -> str:
    """Return Python's name of the given encoding, else of the file's; IngestError if no text."""
    head = next(file.blocks(), b"")
    if encoding:
        name = codecs.lookup(encoding).name
        return UTF_16.get(head[:2], "utf-16-le") if name == "utf-16" else name
    for beginning, kind in OTHER_KINDS.items():
        if head.startswith(beginning):
            raise IngestError(f"{file.path} is {kind}. {origin}")
    if head.count(0) > NULS * len(head) and not utf_16(head):
        raise IngestError(
            f"{file.path} is binary, or in an unusual encoding: save it as UTF-8, or name its "
            f"encoding. {origin}"
        )
    return found_in(file.blocks)


def text_lines(
    file: SourceFile, origin: str, rejected: RejectedRows, encoding: str
) -> Iterator[str]:
    """Yield the lines of a file with their ends; IngestError if the encoding does not fit at all.

    `rejected` notes the encoding and, at the end, the first line that does not fit it.
    """
    name = ENCODINGS.get(encoding, encoding)
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
    texts = enumerate((line.rstrip("\r\n") for line in lines), start=1)
    rows = (Row(file.name, number, text, {name: text}) for number, text in texts)
    yield from rejected.take((row, text_fault(row.text)) for row in rows)


def found_in(blocks: Callable[[], Iterable[bytes]]) -> str:
    """Tell the encoding by the byte order mark, else by what is valid and what makes sense."""
    if wide := utf_16(next(iter(blocks()), b"")):
        return wide
    decoder, faults = codecs.getincrementaldecoder(UTF_8)("ignore"), 0
    for block in blocks():
        text = decoder.decode(block)
        if not text.isascii():
            return UTF_8
        faults += len(block) - len(text)
    if not faults:
        return UTF_8
    lines = whole_lines(pieces(blocks(), WINDOWS))
    beyond = ("".join(line for line in some if not line.isascii()) for some in lines)
    return WINDOWS if _is_western(beyond) else UTF_8


def utf_16(head: bytes) -> str:
    """Return the UTF-16 encoding of a file by its first bytes; empty if it is another.

    Without a mark, ASCII characters show it: nearly all zero bytes are then in odd places, or in
    even ones, and what is read so has line ends and no zero character.
    """
    if head[:2] in UTF_16:
        return UTF_16[head[:2]]
    zeros = head.count(0)
    is_ascii = zeros < len(head) / 4 and not NEVER_ASCII.search(head)  # with a NUL by a fault
    if is_ascii or zeros <= FEW_ZEROS * len(head):
        return ""
    encoding = "utf-16-le" if head[1::2].count(0) > zeros / 2 else "utf-16-be"
    try:
        text = head[: len(head) // 2 * 2].decode(encoding)
    except UnicodeDecodeError as error:  # half a pair at the end of a block
        text = head[: error.start].decode(encoding) if len(head) - error.start < 4 else "\x00"
    return encoding if is_text(text) and re.search("[\r\n]", text) else ""


def pieces(blocks: Iterable[bytes], encoding: str) -> Iterator[str]:
    """Decode block by block, without byte order mark; faults become surrogates, or UnicodeError."""
    remaining = iter(blocks)
    first, wide = next(remaining, b""), encoding in UTF_16.values()
    if wide and first[:2] in UTF_16:
        first = first[2:]
    if encoding.startswith("utf-8"):
        first = first.removeprefix(codecs.BOM_UTF8)
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass" if wide else "surrogateescape")
    for block in chain([first], remaining):
        yield decoder.decode(block)
    if not wide:
        yield decoder.decode(b"", final=True)
        return
    rest = decoder.getstate()[0]  # half a pair, or half a character, which becomes a surrogate
    whole = len(rest) // 2 * 2
    yield rest[:whole].decode(encoding, "surrogatepass")
    yield "".join(chr(0xDC00 + byte) for byte in rest[whole:])


def whole_lines(pieces: Iterable[str]) -> Iterator[list[str]]:
    r"""Cut pieces of a text anew at ``\n``, ``\r\n`` and ``\r``; lines keep their ends."""
    rest = ""
    for piece in pieces:
        # newline="" splits at all three and translates none, as the csv module asks for
        lines = list(io.StringIO(rest + piece, newline=""))
        rest = lines.pop() if lines else ""  # unfinished, or a line end that may go on
        yield lines
    yield [rest] if rest else []


def is_text(text: str) -> bool:
    """Tell whether `text` was decoded without a fault and holds no NUL."""
    return (text.isascii() and "\x00" not in text) or NOT_TEXT.search(text) is None


def text_fault(text: str) -> str | None:
    """Return why a row of this text is not taken, if it is not."""
    if not is_text(text):
        return BAD_CHARACTERS
    return None if text.strip() else EMPTY_ROW


def _is_western(pieces: Iterable[str]) -> bool:
    """Tell whether the characters beyond ASCII of a text, read as Windows-1252, make sense.

    They do if they are letters of one of `ALPHABETS` and the usual signs. Bytes of another encoding
    give other letters, or signs within words (ł as ³), or are the larger part of words.
    """
    accented: Counter[str] = Counter()
    letters = signs = strange = 0
    for piece in pieces:
        words = [word for word in LETTERS.findall(piece) if not word.isascii()]
        letters += sum(map(len, words))
        accented.update(char.lower() for word in words for char in word if char > "\x7f")
        found = _strange_signs(piece)
        signs += len(found)
        strange += sum(found) + sum(len(UNWESTERN.findall(word.lower())) for word in words)
    few = STRAY * (accented.total() + signs)
    foreign = min(
        sum(count for char, count in accented.items() if char not in alphabet)
        for alphabet in ALPHABETS
    )
    return 2 * accented.total() <= letters and foreign + strange <= few


def _strange_signs(piece: str) -> list[bool]:
    """Tell of each sign beyond ASCII that is no letter: is it no character, or within a word?"""
    padded, strange = f" {piece} ", []
    for match in re.finditer(r"[^\x00-\x7f]", padded):
        at, sign = match.start(), match[0]
        if not sign.isalpha():
            within = padded[at - 1].isalpha() and padded[at + 1].isalpha()
            is_fault = "\ud800" <= sign <= "\udfff"
            strange.append(is_fault or (within and sign not in WITHIN_WORDS))
    return strange
