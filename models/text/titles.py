"""The two readings of a title: normalized for judging, cleaned for encoding.

A *normalized* title decides what counts as the same string (splits, leaks, duplicates). A
*cleaned* title is what encoders and matchers see: it keeps punctuation, which can carry meaning.
Reading a title twice changes nothing, and a cleaned title normalizes as the raw one does.
"""

from __future__ import annotations

import re
import unicodedata

DOTTED = re.compile(r"(?<![^\s,;:()/|-])(?:[^\W\d_]\.)+[^\W\d_]\.?(?![^\s,;:()/|-])")
"""Letters with a dot behind each: an abbreviation, which most people write without."""
KEPT_PUNCTUATION = frozenset("+#.&/")


def clean_title(raw_title: str) -> str:
    """NFKC, casefolded, white space collapsed and stripped; punctuation stays.

    A dotted abbreviation loses its dots: "C.E.O." is "ceo".
    """
    spaced = " ".join(_folded(raw_title).split())
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
