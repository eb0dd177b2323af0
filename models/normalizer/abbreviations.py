"""Abbreviations in titles, written out before the search: "rgn" as "registered general nurse".

The table has the columns `abbreviation`, `meaning` and `language`; the language is for its readers.
Words with several meanings ("pm", "md") do not belong there: the network knows them by their
neighbours.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from models.search.words.title_words import WORDS
from models.text.titles import clean_title

COLUMNS_OF_ABBREVIATIONS = ("abbreviation", "meaning", "language")


@dataclass(frozen=True)
class Abbreviations:
    """Writes out the abbreviations of a title.

    Attributes:
        meanings: words to what they stand for, both cleaned.
    """

    meanings: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, title: str) -> str:
        """Return a cleaned title whose abbreviations are written out."""
        return WORDS.sub(lambda word: self.meanings.get(word.group(), word.group()), title)


def read_abbreviations(file: Path) -> Abbreviations:
    """Read a table of abbreviations.

    Raises:
        ValueError: a column is missing, a word stands there twice, or an abbreviation is no word.
    """
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    meanings: dict[str, str] = {}
    for number, row in enumerate(rows, 2):
        if None in row or set(row) != set(COLUMNS_OF_ABBREVIATIONS) or None in row.values():
            raise ValueError(
                f"{file}, line {number}: {len(row)} fields; "
                f"its columns are {', '.join(COLUMNS_OF_ABBREVIATIONS)}"
            )
        word, meaning = clean_title(row["abbreviation"]), clean_title(row["meaning"])
        if not WORDS.fullmatch(word) or not meaning:
            raise ValueError(f"{file}, line {number}: {row}; an abbreviation is one word")
        if word in meanings:
            raise ValueError(f"{file}, line {number}: {word!r} has a meaning already")
        meanings[word] = meaning
    return Abbreviations(meanings)
