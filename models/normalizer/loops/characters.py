"""Many texts as the code points of one, and what Python says of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unicodedata import category

import numpy as np

from models.text.spans import WORD_SIGNS
from models.text.titles import KEPT_PUNCTUATION

if TYPE_CHECKING:
    from jaxtyping import Int64, UInt16, UInt32

Points: TypeAlias = "UInt32[np.ndarray, ' character']"
Classes: TypeAlias = "UInt16[np.ndarray, ' point']"
Places: TypeAlias = "Int64[np.ndarray, ' place']"

IS_ALNUM, IS_ALPHA, IS_MARK, IS_JOINT, IS_SIGN, IS_SEPARATOR, IS_SPACE = (1 << b for b in range(7))
IS_DECIMAL, IS_DIGIT, IS_MONEY, IS_INNER, IS_LOWER, HAS_CAPITAL = (1 << b for b in range(7, 13))
IS_DROPPED, IS_EDGE = 1 << 13, 1 << 14
UNSEEN, UNFOLDED, EXPANDING = 1 << 15, 0xFFFFFFFF, 0xFFFFFFFE
JOINTS, SEPARATORS = "+#'&", ",(/|:;)[]–"
"""Signs inside of a word, and between parts (`models/search/words/title_words.py`)."""
EDGES = ",;:()/|-"
"""Signs that an abbreviation with dots may follow (`models/text/titles.py`)."""
DOT, DASH = (np.uint32(ord(sign)) for sign in ".-")


class Characters(NamedTuple):
    """The characters of some texts: `ends` says where each begins, and where the last one ends."""

    points: Points
    ends: Places


def characters_of(texts: Sequence[str]) -> Characters:
    """Return the code points of texts; lone surrogates too."""
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    return Characters(np.frombuffer(data, np.uint32).copy(), ends)  # writable: one type for numba


def classes_for(points: Points) -> Classes:
    """Return the classes of all characters, those of some at least being known."""
    classes = _classes()
    for point in np.unique(points[classes[points] == UNSEEN]).tolist():
        character = chr(point)
        classes[point] = (
            IS_ALNUM * character.isalnum()
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
    return classes


def folded_for(points: Points) -> UInt32[np.ndarray, " point"]:
    """Return what casefolding makes of all characters, or `EXPANDING` where that is several."""
    folded = _folded_points()
    for point in np.unique(points[folded[points] == UNFOLDED]).tolist():
        text = chr(point).casefold()
        folded[point] = ord(text) if len(text) == 1 else EXPANDING
    return folded


@cache
def _classes() -> Classes:
    return np.full(0x110000, UNSEEN, np.uint16)


@cache
def _folded_points() -> UInt32[np.ndarray, " point"]:
    return np.full(0x110000, UNFOLDED, np.uint32)
