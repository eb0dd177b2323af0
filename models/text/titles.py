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
from collections.abc import Sequence

DOTTED = re.compile(r"(?<![^\s,;:()/|-])(?:[^\W\d_]\.)+[^\W\d_]\.?(?![^\s,;:()/|-])")
"""Letters with a dot behind each: an abbreviation, which most people write without."""
KEPT_PUNCTUATION = frozenset("+#.&/")
LONGEST = 1000
"""Characters of a title that are read, runs of white space counted as one; the rest is cut."""
SCANNED = 10 * LONGEST  # characters of a raw title that are looked at for these


def shortened(raw_title: str) -> str:
    """Return a raw title as it is if it has at most `LONGEST` characters, else its beginning."""
    if len(raw_title) <= LONGEST:
        return raw_title
    return " ".join(raw_title[:SCANNED].split())[:LONGEST]


def clean_title(raw_title: str) -> str:
    """NFKC, casefolded, white space collapsed and stripped; punctuation stays; at most `LONGEST`.

    A dotted abbreviation loses its dots: "C.E.O." is "ceo".
    """
    text = shortened(raw_title) if len(raw_title) > LONGEST else raw_title
    text = text.casefold() if text.isascii() else _folded(text)  # ASCII is in NFKC
    title = " ".join(text.split())[:LONGEST].rstrip()
    return DOTTED.sub(lambda m: _folded(m[0].replace(".", "")), title) if "." in title else title


def normalize_cleaned(titles: Sequence[str]) -> list[str]:
    """Leave out of cleaned titles all punctuation (category P) except ``+ # . & /``."""
    text = joined(titles)
    signs = {sign for sign in set(text) - KEPT_PUNCTUATION if unicodedata.category(sign)[0] == "P"}
    for sign in signs:
        text = text.replace(sign, "")
    lines = zip(titles, text.split("\n") if titles else (), strict=True)
    # an accent can meet its letter only once the sign between them is gone
    return [title if title == line else clean_title(line) for title, line in lines]


def normalize_title(raw_title: str) -> str:
    """Clean one title and normalize it."""
    return normalize_cleaned([clean_title(raw_title)])[0]


def joined(titles: Sequence[str]) -> str:
    """Return titles as the lines of one text; a line break inside of a title becomes a space."""
    text = "\n".join(titles)
    if text.count("\n") >= max(len(titles), 1):
        text = "\n".join([title.replace("\n", " ") for title in titles])
    return text


def _folded(text: str) -> str:
    # casefolding takes some composed characters apart: NFKC once more puts them together
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
