"""Abbreviations and misspelt words of titles in the spelling that the taxonomy has.

An edit makes a misspelt word: a letter is missing, is too much, has changed places with its
neighbour, or is another one (Norvig 2007). First the last word of a part is corrected if it begins
and ends no title, or hardly any: the most frequent one an edit away is meant. People seldom mistake
the first letter, so that one has to agree. Then the words that no title has are corrected, but only
if the whole becomes a title of the taxonomy by that: "costing" is no misspelt "casting".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from models.serving.kernels import mark_edits
from models.text.titles import clean_title
from models.text.words import PARTS, WORDS, Gaps, TitleWords, Words, letters_of

if TYPE_CHECKING:
    from jaxtyping import Bool, Int32, Int64, UInt32, UInt64

PART_END = re.compile(rf" *(?:\n|$|{PARTS.pattern})".replace(r"\s", " "))
"""The text behind the last word of a part, in a cleaned title."""
LAST_WORDS = re.compile(rf"(?<![^\W_]){WORDS.pattern}(?={PART_END.pattern})")
SHORTEST = 5  # letters of a last word that may be misspelt
FREQUENT = 5  # titles that end with the word that is meant
RARER = 100  # a word of the taxonomy is corrected only to one so many times as frequent
SHORTEST_OF_TITLE, MOST_UNKNOWN = 4, 2
"""Letters of a misspelt word of a title of the taxonomy, and such words of it at most."""
HASH_BASE = 0x9E3779B97F4A7C15
"""Of the polynomial of a word's letters, modulo 2⁶⁴; odd, so that it has an inverse."""
HASH_INVERSE = pow(HASH_BASE, -1, 2**64)


Step = Callable[[Sequence[str], Words, Gaps, np.ndarray], dict[int, str]]
"""From titles, their words, what stands between these, and which titles are still as they were, to
changed titles by their rows."""


@dataclass(frozen=True)
class SpellingCorrector:
    """Writes titles as the taxonomy would.

    Attributes:
        words: of the titles of the taxonomy.
        are_known: says which cleaned titles are some of the taxonomy's, or people judged them.
        meanings: abbreviations to what they stand for, both cleaned.
    """

    words: TitleWords
    are_known: Callable[[Sequence[str]], Bool[np.ndarray, " title"]]
    meanings: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, titles: Sequence[str]) -> list[str]:
        """Return cleaned titles with abbreviations written out and misspelt words corrected."""
        return self._corrected(titles, (self._abbreviations, self._last_words, self._whole_titles))

    def _corrected(self, titles: Sequence[str], steps: Sequence[Step]) -> list[str]:
        """Take some steps; titles that one changes are read again for those behind it."""
        made = [*titles]
        if made and steps:
            (words, gaps), left = Words.of(titles), np.ones(len(titles), bool)
            for behind, step in enumerate(steps, start=1):
                changed = step(titles, words, gaps, left)
                corrected = self._corrected([*changed.values()], steps[behind:])
                for row, title in zip(changed, corrected, strict=True):
                    made[row], left[row] = title, False
        return made

    def _abbreviations(
        self, titles: Sequence[str], words: Words, gaps: Gaps, left: Bool[np.ndarray, " title"]
    ) -> dict[int, str]:
        """Return, by row, titles with abbreviations written out."""
        rows = left & words.any_of([name in self.meanings for name in words.names])
        replaced = _replaced_by(self.meanings)
        return {row: WORDS.sub(replaced, titles[row]) for row in rows.nonzero()[0].tolist()}

    def _last_words(
        self, titles: Sequence[str], words: Words, gaps: Gaps, left: Bool[np.ndarray, " title"]
    ) -> dict[int, str]:
        """Return, by row, titles with the last words of parts corrected."""
        ends = [PART_END.match(f"{gap}x") is not None for gap in gaps.names]  # a word follows
        last = (gaps.of_each(ends)[1:] > 0) & left[words.texts]
        names = [words.names[code] for code in np.unique(words.codes[last]).tolist()]
        most = int(self._endings.counts.max(initial=0))  # no word that is meant is more frequent
        endings, beginnings = self.words.endings, self.words.beginnings
        least = {
            word: max(FREQUENT, own)
            for word in names
            if len(word) >= SHORTEST
            and (own := RARER * (endings.get(word, 0) + beginnings.get(word, 0))) <= most
            and word.isalpha()
        }
        meant = self._endings.best(least)
        last &= np.array([name in meant for name in words.names], bool)[words.codes]
        replaced = _replaced_by(meant)
        return {row: LAST_WORDS.sub(replaced, titles[row]) for row in {*words.texts[last].tolist()}}

    def _whole_titles(
        self, titles: Sequence[str], words: Words, gaps: Gaps, left: Bool[np.ndarray, " title"]
    ) -> dict[int, str]:
        """Return, by row, titles that are known once their unknown words are corrected."""
        unknown = ~np.array([*map(self.words.counts.__contains__, words.names)], bool)
        short = unknown & (np.array([*map(len, words.names)], int) < SHORTEST_OF_TITLE)
        count = words.count(unknown)
        may_be = left & (count > 0) & (count <= MOST_UNKNOWN) & ~words.any_of(short)
        own = words.codes[may_be[words.texts]]
        names = [words.names[code] for code in np.unique(own[unknown[own]]).tolist()]
        best = self._known.best(dict.fromkeys(names, 0))
        rows = (may_be & words.any_of([name in best for name in words.names])).nonzero()[0].tolist()
        wholes = [WORDS.sub(_replaced_by(best), titles[row]) for row in rows]
        known = self.are_known(wholes).tolist()
        return {row: title for row, title, own in zip(rows, wholes, known, strict=True) if own}

    @cached_property
    def _known(self) -> NearWords:
        """All words of the titles."""
        return NearWords.of(self.words.counts)

    @cached_property
    def _endings(self) -> NearWords:
        """Those that end titles, as far as they are frequent."""
        counts = self.words.endings.items()
        return NearWords.of({word: count for word, count in counts if count >= FREQUENT})


@dataclass(frozen=True)
class NearWords:
    """Known words by hashes of what remains of them without a letter.

    Of two words an edit apart, one is the other without a letter, or both are equal without one
    letter each. So every known word is found by its own hash and by those of it without each
    letter.

    Attributes:
        words: none of them empty, sorted.
        counts: how frequent each is.
        letters: code points of all words, and where each begins.
        hashes: of all words, whole and without each letter, ascending.
        owners: position in `words` of each.
    """

    words: Sequence[str]
    counts: Int64[np.ndarray, " word"]
    letters: tuple[UInt32[np.ndarray, " letter"], Int64[np.ndarray, " word+1"]]
    hashes: UInt64[np.ndarray, " hash"]
    owners: Int32[np.ndarray, " hash"]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """Index words, with how frequent each is."""
        words = sorted(counts)
        letters = letters_of(words)
        hashes, owners = _remainders(*letters)
        order = hashes.argsort()
        frequent = np.array([*map(counts.__getitem__, words)], np.int64)
        return cls(words, frequent, letters, hashes[order], owners[order])

    def best(self, least: Mapping[str, int]) -> dict[str, str]:
        """Return the most frequent known word that an edit makes of each word, where there is one.

        Of equally frequent ones it is the first. `least`: how frequent it has to be, by words that
        are not empty; above 0, the first letter has to agree as well.
        """
        words = [*least]
        if not self.words or not words:
            return {}
        letters, begins = letters_of(words)
        hashes, queried = _remainders(letters, begins)
        order = hashes.argsort()  # neighbours are looked up in a fraction of the time
        starts = self.hashes.searchsorted(hashes[order])
        is_there = self.hashes.take(starts, mode="clip") == hashes[order]
        starts, order = starts[is_there], order[is_there]
        sizes = self.hashes.searchsorted(hashes[order], side="right") - starts
        ranks = np.arange(sizes.sum()) - (sizes.cumsum() - sizes).repeat(sizes)
        owners = self.owners[starts.repeat(sizes) + ranks]
        queried = queried[order].repeat(sizes)
        often = np.array([*least.values()])[queried]
        own_letters, own_begins = self.letters
        is_first = own_letters[own_begins[owners]] == letters[begins[queried]]
        fits = (self.counts[owners] >= often) & (is_first | (often == 0))
        queried, owners = (own[fits].astype(np.int64) for own in (queried, owners))
        are_edits = np.empty(len(owners), bool)
        mark_edits(letters, begins, queried, own_letters, own_begins, owners, are_edits)
        queried, owners = queried[are_edits], owners[are_edits]
        ranked = np.lexsort((owners, -self.counts[owners], queried))
        which, first = np.unique(queried[ranked], return_index=True)
        pairs = zip(which.tolist(), owners[ranked][first].tolist(), strict=True)
        return {words[word]: self.words[owner] for word, owner in pairs}


def _replaced_by(others: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    return lambda word: others.get(word.group(), word.group())


def _remainders(
    letters: UInt32[np.ndarray, " letter"], begins: Int64[np.ndarray, " word+1"]
) -> tuple[UInt64[np.ndarray, " hash"], Int32[np.ndarray, " hash"]]:
    """Return the hashes of words, whole and then without each letter, and whose they are."""
    starts, sizes = begins[:-1], np.diff(begins)
    owners = np.arange(len(sizes), dtype=np.int32)
    powers = np.full(sizes.max(initial=1), HASH_BASE, np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers)
    terms = letters.astype(np.uint64) * powers[np.arange(len(letters)) - starts.repeat(sizes)]
    before = terms.cumsum() - terms
    before -= before[starts].repeat(sizes)
    whole = np.add.reduceat(terms, starts) if len(sizes) else terms
    after = whole.repeat(sizes) - before - terms
    return (
        np.concatenate([whole, before + after * np.uint64(HASH_INVERSE)]),
        np.concatenate([owners, owners.repeat(sizes)]),
    )


def read_abbreviations(file: Path) -> dict[str, str]:
    """Read a table of abbreviations that `check_abbreviations` has passed."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    return {clean_title(row["abbreviation"]): clean_title(row["meaning"]) for row in rows}
