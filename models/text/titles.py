"""The two readings of a title: normalized for judging, cleaned for encoding.

A *normalized* title decides what counts as the same string (splits, leaks, duplicates). A
*cleaned* title is what encoders and matchers see: it keeps punctuation, which can carry meaning.
Reading a title twice changes nothing, and a cleaned title normalizes as the raw one does.

Titles are read many at once: joined by line breaks, which no title keeps, they pass through
Unicode's algorithms as one text. No caller's slip, and no attack, makes a title take seconds or
gigabytes: a long one is cut before it is read and once more after, because one character may stand
for 18 (U+FDFA). Networks read a tenth of what is left.
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


def clean_titles(raw_titles: Sequence[str]) -> list[str]:
    """NFKC, casefolded, white space collapsed and stripped; punctuation stays; at most `LONGEST`.

    A dotted abbreviation loses its dots: "C.E.O." is "ceo".
    """
    lines = _folded(joined([shortened(title) for title in raw_titles])).split("\n")
    spaced = (" ".join(line.split())[:LONGEST].rstrip() for line in lines[: len(raw_titles)])
    return [DOTTED.sub(_without_dots, title) if "." in title else title for title in spaced]


def clean_title(raw_title: str) -> str:
    """Clean one title."""
    return clean_titles([raw_title])[0]


def normalize_cleaned(titles: Sequence[str]) -> list[str]:
    """Leave out of cleaned titles all punctuation (category P) except ``+ # . & /``."""
    text = joined(titles)
    signs = {sign for sign in set(text) - KEPT_PUNCTUATION if unicodedata.category(sign)[0] == "P"}
    if not signs:
        return [*titles]
    kept = text.translate(dict.fromkeys(map(ord, signs)))
    lines = kept.split("\n")
    changed = [row for row, title in enumerate(titles) if title != lines[row]]
    # an accent can meet its letter only once the sign between them is gone
    for row, title in zip(changed, clean_titles([lines[row] for row in changed]), strict=True):
        lines[row] = title
    return lines


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


def _without_dots(letters: re.Match[str]) -> str:
    return _folded(letters.group().replace(".", ""))
