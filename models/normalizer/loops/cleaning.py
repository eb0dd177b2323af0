"""Compiled loops that clean, normalize and hash titles of plain characters.

`models/text/titles.py` reads any. A plain character is read alike whatever
stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias
from unicodedata import category, normalize

import numpy as np

from models.normalizer.loops.characters import (
    DOT,
    IS_ALNUM,
    IS_DECIMAL,
    IS_DROPPED,
    IS_EDGE,
    IS_SPACE,
    Characters,
    CharacterTable,
    Classes,
    Places,
    Points,
    classes_for,
)
from models.normalizer.loops.hashing import NOTHING_64, ONE_64, STEP_64, Hashes, mixed

if TYPE_CHECKING:
    from jaxtyping import Bool, UInt32


Read: TypeAlias = "UInt32[np.ndarray, ' point']"

NOT_PLAIN = np.uint32(0xFFFFFFFE)
GAP = np.uint32(ord(" "))
PLAIN_RANGES = (range(0x1100), range(0x2000, 0x3000))
"""Code points of which none but marks joins the letter before it."""


def _cleaned_alone(character: str) -> int:
    """Return what cleaning makes of a character, `NOT_PLAIN` where that depends on others."""
    read = character
    for _ in range(2):  # the second time changes nothing
        before = read
        for step in (_composed, str.casefold, _composed):
            read = step(read)
            if len(read) > 1 or not any(ord(read) in own for own in PLAIN_RANGES):
                return int(NOT_PLAIN)
            if category(read)[0] == "M":
                return int(NOT_PLAIN)
    classes_for(np.array([ord(read)]))
    return ord(read) if read == before else int(NOT_PLAIN)


def _composed(text: str) -> str:
    return normalize("NFKC", text)


cleaned_for = CharacterTable(_cleaned_alone, np.uint32)
"""Says what cleaning makes of characters; the classes of these are known."""


def may_be_dotted(points: Points, start: int, end: int, classes: Classes) -> bool:
    """Say whether a letter alone, a dot and the last character may begin an abbreviation."""
    if end - start < 3 or points[end - 2] != DOT or not classes[points[end - 1]] & IS_ALNUM:
        return False
    if not classes[points[end - 3]] & IS_ALNUM or classes[points[end - 3]] & IS_DECIMAL:
        return False
    return end - start == 3 or classes[points[end - 4]] & (IS_SPACE | IS_EDGE) != 0


def clean_one(
    points: Points,
    span: tuple[int, int],
    cleaned: Read,
    classes: Classes,
    dropped: int,
    made: Points,
    at: int,
) -> int:
    """Write the characters of a title, cleaned; return where they end, −1 of one not plain.

    Args:
        points: of several titles.
        span: of the title in these.
        cleaned: characters.
        classes: of characters.
        dropped: classes that are left out.
        made: written.
        at: where the title begins there.
    """
    begin, gap = at, False
    for place in range(span[0], span[1]):
        point = cleaned[points[place]]
        if point == NOT_PLAIN:
            return -1
        if classes[point] & dropped:
            continue
        if classes[point] & IS_SPACE:
            gap = at > begin
            continue
        if gap:
            made[at] = GAP
            at, gap = at + 1, False
        made[at] = point
        at += 1
        if may_be_dotted(made, begin, at, classes):
            return -1
    return at


def clean_titles(
    raw: Characters,
    cleaned: Read,
    classes: Classes,
    points: Points,
    ends: Places,
    are_plain: Bool[np.ndarray, " title"],
) -> None:
    """Write the characters of titles, cleaned, and where each begins; of one not plain, none."""
    at = 0
    for title in range(len(are_plain)):
        span = raw[1][title], raw[1][title + 1]
        end = clean_one(raw[0], span, cleaned, classes, 0, points, at)
        ends[title], are_plain[title] = at, end >= 0
        at = max(at, end)
    ends[len(are_plain)] = at


def hash_of(points: Points, start: int, end: int) -> np.uint64:
    """Return the hash of a title (`models/search/title_places.py`)."""
    total, power = NOTHING_64, ONE_64
    for place in range(start, end):
        total += mixed(np.uint64(points[place])) * power
        power *= STEP_64
    return mixed(total)


def hash_cleaned(characters: Characters, hashes: Hashes) -> None:
    """Write the hash of each title."""
    points, ends = characters
    for title in range(len(hashes)):
        hashes[title] = hash_of(points, ends[title], ends[title + 1])


def hash_normalized(
    characters: Characters,
    cleaned: Read,
    classes: Classes,
    hashes: Hashes,
    are_plain: Bool[np.ndarray, " title"],
) -> None:
    """Write the hash of each cleaned title, normalized; of one not plain, that of none."""
    points, ends = characters
    kept = np.empty(len(points), np.uint32)
    for title in range(len(hashes)):
        span = ends[title], ends[title + 1]
        end = clean_one(points, span, cleaned, classes, IS_DROPPED, kept, 0)
        hashes[title], are_plain[title] = hash_of(kept, 0, end), end >= 0
