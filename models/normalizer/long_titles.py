"""The length of a title: no caller's slip, and no attack, makes one take seconds or gigabytes.

A single character may stand for 18 when it is normalized (U+FDFA), so the raw title is cut before,
and the cleaned one after. Networks read a tenth of it.
"""

from __future__ import annotations

from models.text.titles import clean_title

LONGEST = 1000
"""Characters of a title that are read, runs of white space counted as one; the rest is cut."""
SCANNED = 10 * LONGEST
"""Characters of a raw title that are looked at for these."""


def shortened(raw_title: str) -> str:
    """Return a raw title as it is if it has at most `LONGEST` characters, else its beginning."""
    if len(raw_title) <= LONGEST:
        return raw_title
    return " ".join(raw_title[:SCANNED].split())[:LONGEST]


def cleaned(raw_title: str) -> str:
    """Return the cleaned title, of `LONGEST` characters at most (`models/text/titles.py`)."""
    return clean_title(shortened(raw_title))[:LONGEST].rstrip()
