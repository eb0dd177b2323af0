"""The words of the titles of a taxonomy: how many titles have, begin with and end with each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Self

PARTS = re.compile(r"[,(/|:;)\[\]–]|-\s|\s-")
"""Separators of a title's parts: commas, brackets, dashes beside a space."""
WORDS = re.compile(r"[^\W_]+(?:[+#'&]+[^\W_]*)*")


@dataclass(frozen=True)
class TitleWords:
    """The words of distinct cleaned titles.

    Attributes:
        counts: how many titles have a word, wherever it stands.
        endings: how many have a first part that ends with it; of others none.
        beginnings: how many have a first part that begins with it and has more; of others none.
    """

    counts: Mapping[str, int]
    endings: Mapping[str, int]
    beginnings: Mapping[str, int]

    @classmethod
    def of(cls, titles: Iterable[str]) -> Self:
        """Count the words of cleaned titles, each title once."""
        distinct = set(titles)
        words = [WORDS.findall(title) for title in distinct]
        firsts = [
            next(iter(parts_of(title)), []) if PARTS.search(title) else own
            for title, own in zip(distinct, words, strict=True)
        ]
        return cls(
            dict(Counter(chain.from_iterable(map(set, words)))),
            dict(Counter(part[-1] for part in firsts if part)),
            dict(Counter(part[0] for part in firsts if len(part) > 1)),
        )


def parts_of(title: str) -> list[list[str]]:
    """Return the words of each part of a title that has any."""
    return [words for part in PARTS.split(title) if (words := WORDS.findall(part))]


def forms_of(label: str) -> list[str]:
    """Return the forms of a label for each gender, folded: "Koch/Köchin" has two."""
    return [form for part in label.casefold().split("/") if (form := part.strip())]
