"""Many texts as the code points of one, and what Python says of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unicodedata import category

import numpy as np

from models.text.spans import WORD_SIGNS
from models.text.titles import KEPT_PUNCTUATION

if TYPE_CHECKING:
    from jaxtyping import Int64, Shaped, UInt16, UInt32

Points: TypeAlias = "UInt32[np.ndarray, ' character']"
Classes: TypeAlias = "UInt16[np.ndarray, ' point']"
Places: TypeAlias = "Int64[np.ndarray, ' place']"

IS_ALNUM, IS_ALPHA, IS_MARK, IS_JOINT, IS_SIGN, IS_SEPARATOR, IS_SPACE = (1 << b for b in range(7))
IS_DECIMAL, IS_DIGIT, IS_MONEY, IS_INNER, IS_LOWER, HAS_CAPITAL = (1 << b for b in range(7, 13))
IS_DROPPED, IS_EDGE, IS_READ = 1 << 13, 1 << 14, 1 << 15
EXPANDING = 0xFFFFFFFE
JOINTS, SEPARATORS = "+#'&", ",(/|:;)[]–"
"""Signs inside of a word, and between parts (`models/search/words/title_words.py`)."""
EDGES = ",;:()/|-"
"""Signs that an abbreviation with dots may follow (`models/text/titles.py`)."""
DOT, DASH = (np.uint32(ord(sign)) for sign in ".-")


class Characters(NamedTuple):
    """The characters of some texts: `ends` says where each begins, and where the last one ends.

    The classes of all of them are known.
    """

    points: Points
    ends: Places


def characters_of(texts: Sequence[str]) -> Characters:
    """Return the code points of texts; lone surrogates too."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    points = np.frombuffer(data, np.uint32).copy()  # writable: one type for numba
    classes_for(points)
    return Characters(points, ends)


class CharacterTable:
    """Numbers that say something of characters; each is read when it first occurs.

    Attributes:
        known: numbers by code points; 0 of those that no text had so far.
    """

    def __init__(self, read: Callable[[str], int], kind: type[np.unsignedinteger]) -> None:
        """Let `read` say it of a character, in numbers of a kind."""
        self._read = read
        self.known: Shaped[np.ndarray, " point"] = np.zeros(0x110000, kind)  # takes no memory yet

    def __call__(self, points: Points) -> Shaped[np.ndarray, " point"]:
        """Return the numbers of all characters, those of some at least being known."""
        for point in np.unique(points[self.known[points] == 0]).tolist():
            self.known[point] = self._read(chr(point))
        return self.known


def _class_of(character: str) -> int:
    return (
        IS_READ
        | IS_ALNUM * character.isalnum()
        | IS_ALPHA * character.isalpha()
        | IS_MARK * (category(character)[0] == "M")
        | IS_JOINT * (character in JOINTS)
        | IS_SIGN * (character in WORD_SIGNS)
        | IS_SEPARATOR * (character in SEPARATORS)
        | IS_SPACE * character.isspace()
        | IS_DECIMAL * character.isdecimal()
        | IS_DIGIT * character.isdigit()
        | IS_MONEY * (character in "£$€¥")
        | IS_INNER * (character in ".,:/-")
        | IS_LOWER * character.islower()
        | HAS_CAPITAL * (character.upper() != character)
        | IS_DROPPED * (category(character)[0] == "P" and character not in KEPT_PUNCTUATION)
        | IS_EDGE * (character in EDGES)
    )


def _folded_alone(character: str) -> int:
    """Return what casefolding makes of a character, `EXPANDING` where that is several."""
    text = character.casefold()
    return ord(text) if len(text) == 1 else EXPANDING


classes_for = CharacterTable(_class_of, np.uint16)
"""Says of characters what Python does, in the bits above."""
folded_for = CharacterTable(_folded_alone, np.uint32)
"""Says what casefolding makes of characters."""
