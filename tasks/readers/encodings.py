"""Bytes to text: which encoding, when that is beyond doubt, and nothing lost on bad bytes.

A byte order mark says it. Without one a file is UTF-8, unless none of its characters beyond ASCII
is valid UTF-8 and all make sense as Windows-1252, the superset of Latin-1 that West European
programs write: then it is that. A byte that the encoding does not allow becomes a lone surrogate,
which no valid text holds: `is_text` finds the row, and the rest of the file lives.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

UTF_8, WINDOWS = "utf-8", "cp1252"
UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
SHOWN = {
    UTF_8: "UTF-8",
    WINDOWS: "Windows-1252 (Latin-1)",
    **dict.fromkeys(UTF_16.values(), "UTF-16"),
}
NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
STRAY = 0.02  # of the characters beyond ASCII: a name from elsewhere, a damaged byte

# Bytes of another encoding come out as letters that no one of these groups has, or as signs within
# words: ř as ø, but š and ý beside it; ł as ³; я as ÿ beside õ, ð and þ; ü of old DOS as no letter.
ALPHABETS = (
    frozenset("àâæçéèêëîïôœùûüÿäößáíóúñìòåøªº"),  # French, German, Spanish, Italian, Swedish ...
    frozenset("áàâãçéêíóôõúüªº"),  # Portuguese
    frozenset("áéíóúýþæöð"),  # Icelandic
    frozenset("äöõü"),  # Estonian
)
WITHIN_WORDS = frozenset("’‘´·\xad")
LETTERS = re.compile(r"[^\W\d_]+")


class Decoded(NamedTuple):
    """Text without byte order mark, and the name of its encoding in Python."""

    text: str
    encoding: str


def decode(data: bytes, encoding: str = "") -> Decoded:
    """Decode `data` as `encoding`, or as what it is found to be.

    Raises:
        UnicodeDecodeError: not of the encodings that are found, whose faults become surrogates.
    """
    encoding = codecs.lookup(encoding).name if encoding else found_encoding(data)
    if encoding == "utf-16":
        encoding = UTF_16.get(data[:2], "utf-16-le")
    if encoding in UTF_16.values():
        marked = data[:2] in UTF_16
        return Decoded(_utf_16(data[2:] if marked else data, encoding), encoding)
    plain = data.removeprefix(codecs.BOM_UTF8) if encoding.startswith("utf-8") else data
    return Decoded(plain.decode(encoding, "surrogateescape"), encoding)


def found_encoding(data: bytes) -> str:
    """Tell the encoding by the byte order mark, else by what is valid and what makes sense."""
    if data[:2] in UTF_16:
        return UTF_16[data[:2]]
    without_faults = data.decode(UTF_8, "ignore")
    if not without_faults.isascii() or len(without_faults) == len(data):
        return UTF_8
    return WINDOWS if _makes_sense(data.decode(WINDOWS, "surrogateescape")) else UTF_8


def is_text(text: str) -> bool:
    """Tell whether `text` was decoded without a fault and holds no NUL."""
    return NOT_TEXT.search(text) is None


def _utf_16(data: bytes, encoding: str) -> str:
    whole = len(data) // 2 * 2
    cut_off = "".join(chr(0xDC00 + byte) for byte in data[whole:])
    return data[:whole].decode(encoding, "surrogatepass") + cut_off


def _makes_sense(text: str) -> bool:
    """Tell whether what is beyond ASCII reads as one of `ALPHABETS` and the usual signs.

    Words of which it is the larger part are another script's.
    """
    words = [word for word in LETTERS.findall(text) if not word.isascii()]
    accented = [char.lower() for word in words for char in word if char > "\x7f"]
    signs = [
        (before.isalpha() and after.isalpha() and sign not in WITHIN_WORDS) or not is_text(sign)
        for before, sign, after in zip(" " + text, text, text[1:] + " ", strict=False)
        if sign > "\x7f" and not sign.isalpha()
    ]
    letters = sum(map(len, words))
    few = STRAY * (len(accented) + len(signs))
    strange = min(sum(char not in alphabet for char in accented) for alphabet in ALPHABETS)
    return 2 * len(accented) <= letters and strange + sum(signs) <= few
