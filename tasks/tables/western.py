"""Whether bytes that are no UTF-8 make sense as Windows-1252, judged piece by piece.

Bytes of another encoding come out as letters that no one of these alphabets has, or as signs
within words: ř as ø, but š and ý beside it; ł as ³; я as ÿ beside õ, ð and þ; ü of old DOS as no
letter. What a piece shows is counted and added up, so that a file of any size can be judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

ALPHABETS = (
    frozenset("àâæçéèêëîïôœùûüÿäößáíóúñìòåøªº"),  # French, German, Spanish, Italian, Swedish ...
    frozenset("áàâãçéêíóôõúüªº"),  # Portuguese
    frozenset("áéíóúýþæöð"),  # Icelandic
    frozenset("äöõü"),  # Estonian
)
STRAY = 0.02  # of the characters beyond ASCII: a name from elsewhere, a damaged byte
WITHIN_WORDS = frozenset("’‘´·\xad")
LETTERS = re.compile(r"[^\W\d_]+")
SURROGATE = re.compile("[\ud800-\udfff]")


def makes_sense(pieces: Iterable[str]) -> bool:
    """Tell whether what is beyond ASCII reads as one of `ALPHABETS` and the usual signs.

    Words of which it is the larger part are another script's.

    Args:
        pieces: a text, cut between lines, decoded with surrogates for bytes that are none.
    """
    accented: Counter[str] = Counter()
    letters = signs = strange_signs = 0
    for piece in pieces:
        words = [word for word in LETTERS.findall(piece) if not word.isascii()]
        letters += sum(map(len, words))
        accented.update(char.lower() for word in words for char in word if char > "\x7f")
        strange = [_is_strange(*near) for near in _signs(piece)]
        signs += len(strange)
        strange_signs += sum(strange)
    few = STRAY * (accented.total() + signs)
    foreign = min(_outside(accented, alphabet) for alphabet in ALPHABETS)
    return 2 * accented.total() <= letters and foreign + strange_signs <= few


def _signs(piece: str) -> list[tuple[str, str, str]]:
    """Return what is beyond ASCII and no letter, between its neighbours."""
    padded = f" {piece} "
    places = [match.start() for match in re.finditer(r"[^\x00-\x7f]", padded)]
    near = [(padded[at - 1], padded[at], padded[at + 1]) for at in places]
    return [signs for signs in near if not signs[1].isalpha()]


def _is_strange(before: str, sign: str, after: str) -> bool:
    within = before.isalpha() and after.isalpha() and sign not in WITHIN_WORDS
    return within or SURROGATE.match(sign) is not None


def _outside(accented: Counter[str], alphabet: frozenset[str]) -> int:
    return sum(count for char, count in accented.items() if char not in alphabet)
