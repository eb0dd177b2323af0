"""Titles of different occupations that a single word, or the order of their words, tells apart.

"assistant accountant" and "accountant", "tree surgeon" and "surgeon": what Wieting et al. 2016 look
for with "not" (CHARAGRAM, Table 8), found in the taxonomy itself, so in any language.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import NamedTuple

import polars as pl


class WordPair(NamedTuple):
    """Two titles of the index without an occupation in common."""

    title: str
    other: str
    """`title` without `word`, or its words in another order."""
    word: str
    """The first or last word of `title`; empty where the order is all that differs."""


def word_pairs(index: pl.DataFrame) -> list[WordPair]:
    """List all such pairs, without doubles; a hyphen parts words.

    Args:
        index: distinct titles and their occupations: `title, occupation_ids`.
    """
    occupations = {title: set(held) for title, held in index.iter_rows()}
    by_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    by_bag: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for title in occupations:
        by_words[_words(title)].append(title)
        by_bag[tuple(sorted(_words(title)))].append(title)
    pairs = [
        WordPair(title, other, word)
        for title in occupations
        for rest, word in _shortened(_words(title)).items()
        for other in by_words.get(rest, ())
    ]
    pairs += [
        WordPair(title, other, "")
        for titles in by_bag.values()
        for title, other in combinations(titles, 2)
        if _words(title) != _words(other)
    ]
    return [pair for pair in pairs if not occupations[pair.title] & occupations[pair.other]]


def _words(title: str) -> tuple[str, ...]:
    return tuple(title.replace("-", " ").split())


def _shortened(words: tuple[str, ...]) -> dict[tuple[str, ...], str]:
    """Map what is left without the first or the last word to that word."""
    return {words[1:]: words[0], words[:-1]: words[-1]} if len(words) > 1 else {}
