"""Bytes to text: which encoding, if that is beyond doubt, and nothing lost on bad bytes.

A byte order mark decides. Without one a file is UTF-8, unless none of its characters beyond ASCII
is valid UTF-8 and all make sense as Windows-1252, the superset of Latin-1. A byte
that the encoding does not allow becomes a lone surrogate, which no valid text holds: `is_text`
finds the row, and the rest of the file is read. Files are read block by block.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

UTF_8, WINDOWS = "utf-8", "cp1252"
UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
NAMES = {
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
"""Letters that the languages of `ALPHABETS` do not write before such a one or at a word's end.

Windows-1250 read as Windows-1252 has them: ř as ø before a vowel, ę as ê before g, ő as a last õ.
In the occupations of ESCO in 17 languages they tell the two apart.
"""
WITHIN_WORDS = frozenset("’‘´·\xad")
LETTERS = re.compile(r"[^\W\d_]+")


def found_in(blocks: Callable[[], Iterable[bytes]]) -> str:
    """Tell the encoding by the byte order mark, else by what is valid and what makes sense.

    The blocks of the file are read once, or twice if it is no UTF-8.
    """
    if wide := utf_16(next(iter(blocks()), b"")):
        return wide
    decoder = codecs.getincrementaldecoder(UTF_8)("ignore")
    faults = 0
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


def python_name(encoding: str, head: bytes) -> str:
    """Return Python's name of a given encoding; of UTF-16 the one that the mark in `head` names."""
    name = codecs.lookup(encoding).name
    return UTF_16.get(head[:2], "utf-16-le") if name == "utf-16" else name


def pieces(blocks: Iterable[bytes], encoding: str) -> Iterator[str]:
    """Decode block by block, without byte order mark.

    Raises:
        UnicodeError: not of the encodings that are found, whose faults become surrogates.
    """
    remaining = iter(blocks)
    first, wide = next(remaining, b""), encoding in UTF_16.values()
    if wide and first[:2] in UTF_16:
        first = first[2:]
    if encoding.startswith("utf-8"):
        first = first.removeprefix(codecs.BOM_UTF8)
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass" if wide else "surrogateescape")
    for block in chain([first], remaining):
        yield decoder.decode(block)
    yield _cut_off(decoder.getstate()[0], encoding) if wide else decoder.decode(b"", final=True)


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


def _cut_off(data: bytes, encoding: str) -> str:
    """Decode the last bytes of UTF-16: half a pair, and half a character as a surrogate."""
    whole = len(data) // 2 * 2
    half = "".join(chr(0xDC00 + byte) for byte in data[whole:])
    return data[:whole].decode(encoding, "surrogatepass") + half


def _is_western(pieces: Iterable[str]) -> bool:
    """Tell whether the characters beyond ASCII of a text, read as Windows-1252, make sense.

    They do if they are letters of one of `ALPHABETS` and the usual signs. Bytes of another encoding
    give other letters, or signs within words: ř as ø, but š and ý beside it; ł as ³; я as ÿ beside
    õ, ð and þ; ü of old DOS as no letter. Words of which they are the larger part are of another
    script.
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
            within = within and sign not in WITHIN_WORDS
            strange.append(within or "\ud800" <= sign <= "\udfff")
    return strange
