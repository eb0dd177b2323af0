"""The two readings of a title: normalized for judging, cleaned for encoding.

A *normalized* title decides what counts as the same string (splits, leaks, duplicates). A
*cleaned* title is what encoders and matchers see: it keeps punctuation, which can carry meaning.
Reading a title twice changes nothing, and a cleaned title normalizes as the raw one does.

No caller's slip, and no attack, makes a title take seconds or gigabytes: a long one is cut before
it is read and once more after, because one character may stand for 18 (U+FDFA). Networks read a
tenth of what is left.
"""

from __future__ import annotations

import re
import unicodedata

DOTTED = re.compile(r"(?<![^\s,;:()/|-])(?:[^\W\d_]\.)+[^\W\d_]\.?(?![^\s,;:()/|-])")
"""Letters with a dot behind each: an abbreviation, which most people write without."""
KEPT_PUNCTUATION = frozenset("+#.&/")
LONGEST = 1000
"""Characters of a title that are read, runs of white space counted as one; the rest is cut."""
SCANNED = 10 * LONGEST
"""Characters of a raw title that are looked at for these."""


def shortened(raw_title: str) -> str:
    """Return a raw title as it is if it has at most `LONGEST` characters, else its beginning."""
    if len(raw_title) <= LONGEST:
        return raw_title
    return " ".join(raw_title[:SCANNED].split())[:LONGEST]


def clean_title(raw_title: str) -> str:
    """NFKC, casefolded, white space collapsed and stripped; punctuation stays; at most `LONGEST`.

    A dotted abbreviation loses its dots: "C.E.O." is "ceo".
    """
    spaced = " ".join(_folded(shortened(raw_title)).split())[:LONGEST].rstrip()
    return DOTTED.sub(lambda letters: _folded(letters.group().replace(".", "")), spaced)


def normalize_title(raw_title: str) -> str:
    """`clean_title` without punctuation except ``+ # . & /`` (Unicode category P)."""
    kept = (
        character
        for character in clean_title(raw_title)
        if character in KEPT_PUNCTUATION or not unicodedata.category(character).startswith("P")
    )
    # an accent can meet its letter only once the sign between them is gone
    return clean_title("".join(kept))


def _folded(text: str) -> str:
    # casefolding takes some composed characters apart: NFKC once more puts them together
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
