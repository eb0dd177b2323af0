"""The words of titles, read by compiled loops where they are at hand, with the same result.

Otherwise `WordEvidence` and `Respelling` read titles one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log1p
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.abbreviations import Abbreviations
from models.normalizer.loops.characters import characters_of, classes_for
from models.normalizer.loops.title_lot import TitleLot
from models.normalizer.loops.words import Words
from models.normalizer.text_kernels import HashTable, text_kernels, text_kernels_at_hand, words_in
from models.search.words.near_words import NearWords
from models.search.words.respelling import (
    FREQUENT,
    MOST_UNKNOWN,
    SHORTEST,
    SHORTEST_OF_TITLE,
    Respelling,
)
from models.search.words.title_words import forms_of
from models.search.words.word_evidence import EVIDENCE, WordEvidence

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int, Int32, Int64, Shaped


@dataclass(frozen=True, eq=False)
class ManyWords:
    """Looks up words of titles, and compares them with those of aliases and labels.

    Attributes:
        respelling: by the words of the titles of an index.
        are_known: says which titles people judged, or are some of the index.
        aliases: these titles.
        labels: of its occupations in each language.
        abbreviations: that are written out before words are corrected.
    """

    respelling: Respelling
    are_known: Callable[[Sequence[str]], Bool[np.ndarray, " title"]]
    aliases: Sequence[str]
    labels: Shaped[np.ndarray, "language occupation"]
    abbreviations: Abbreviations

    def word_evidence(
        self,
        titles: Sequence[str],
        aliases: Int[np.ndarray, " title"],
        labels: Int[np.ndarray, " title"],
        closest: Float[np.ndarray, " title"],
    ) -> Float64[np.ndarray, "title feature"]:
        """Return what `WordEvidence` does; aliases and labels are named by their numbers."""
        if not text_kernels_at_hand():
            texts = [self.aliases[place] for place in aliases.tolist()]
            names = self.labels.reshape(-1)[labels].tolist()
            return WordEvidence(self.respelling.words)(titles, texts, names, closest)
        words, (forms, starts) = TitleLot.of(titles).words, self._forms
        made = np.empty((len(titles), len(EVIDENCE)))
        places, names = (np.ascontiguousarray(one, np.int64) for one in (aliases, labels))
        compared = (self._aliases, places, forms, starts, names, made)
        text_kernels().compare_words(words, self._numbers(words), self._logs, *compared)
        made[:, -1] = 1.0 - closest.astype(np.float64)
        return made

    def respelled(self, titles: Sequence[str]) -> Sequence[str]:
        """Return cleaned titles as `Abbreviations` and then `Respelling` make them."""
        if not text_kernels_at_hand():
            return [self.respelling(self.abbreviations(title)) for title in titles]
        lot = self._with_last_words(self._written_out(TitleLot.of(titles)))
        words = lot.words
        unknown = self._numbers(words) < 0
        owners = np.repeat(np.arange(len(lot)), np.diff(words.firsts))
        short = unknown & (words.stops - words.begins < SHORTEST_OF_TITLE)
        count, of_short = (np.bincount(owners[own], minlength=len(lot)) for own in (unknown, short))
        may_be = (count <= MOST_UNKNOWN) & (of_short == 0)
        chosen = np.flatnonzero(unknown & may_be[owners])
        changed = self._replaced(lot, chosen, self.respelling.known, np.zeros_like(chosen))
        known = self.are_known(TitleLot.of([*changed.values()])).tolist()
        return lot.with_titles(
            {row: whole for (row, whole), own in zip(changed.items(), known, strict=True) if own}
        )

    def _written_out(self, lot: TitleLot) -> TitleLot:
        """Return titles without abbreviations."""
        numbers, meanings = self._numbers(lot.words, self._abbreviated), self.abbreviations.meanings
        found, texts = np.flatnonzero(numbers >= 0), [*meanings.values()]
        return lot.with_titles(_with_words(lot, found, [texts[one] for one in numbers[found]]))

    def _with_last_words(self, lot: TitleLot) -> TitleLot:
        """Return titles with the last words of their parts corrected."""
        words = lot.words
        are_last = np.empty(len(words.begins), bool)
        text_kernels().mark_words(words, lot.characters.ends, classes_for.known, are_last)
        numbers = self._numbers(words)
        least = self._least[numbers]
        are_last &= (words.stops - words.begins >= SHORTEST) & (least <= self.respelling.most)
        chosen = np.flatnonzero(are_last)
        return lot.with_titles(self._replaced(lot, chosen, self.respelling.endings, least[chosen]))

    def _replaced(
        self,
        lot: TitleLot,
        chosen: Int64[np.ndarray, " chosen"],
        known: NearWords,
        least: Int64[np.ndarray, " chosen"],
    ) -> dict[int, str]:
        """Return, by row, titles of whose chosen words some are an edit away from a known one."""
        text, words = "".join(lot.titles), lot.words
        spans = zip(words.begins[chosen].tolist(), words.stops[chosen].tolist(), strict=True)
        texts = [text[begin:stop] for begin, stop in spans]
        best = known.best(dict(zip(texts, least.tolist(), strict=True)))
        found = [place for place, own in enumerate(texts) if own in best]
        return _with_words(lot, chosen[found], [best[texts[place]] for place in found])

    def _numbers(self, words: Words, known: HashTable | None = None) -> Int32[np.ndarray, " word"]:
        """Return the place of each word among those of the titles, or others; −1 of none."""
        return (known or self._known).numbers_of(words.hashes)

    @cached_property
    def _abbreviated(self) -> HashTable:
        return HashTable.of(words_in(characters_of([*self.abbreviations.meanings])).hashes)

    @cached_property
    def _known(self) -> HashTable:
        """Hashes of the known words."""
        return HashTable.of(words_in(characters_of(self.respelling.known.words)).hashes)

    @cached_property
    def _least(self) -> Int64[np.ndarray, " word+1"]:
        """Counts that `Respelling.least` gives for each known word, and for the others."""
        least = map(self.respelling.least, self.respelling.known.words)
        return np.array([*least, FREQUENT], np.int64)

    @cached_property
    def _logs(self) -> Float64[np.ndarray, " word+1"]:
        """log(1 + titles that end with a word) of each known one, and of the others."""
        endings = self.respelling.words.endings
        return np.array([*(log1p(endings.get(word, 0)) for word in self.respelling.known.words), 0])

    @cached_property
    def _aliases(self) -> Words:
        return words_in(characters_of(self.aliases))

    @cached_property
    def _forms(self) -> tuple[Words, Int64[np.ndarray, " label+1"]]:
        """The words of the forms of all labels, and where the forms of each begin."""
        forms = [forms_of(label) for label in self.labels.reshape(-1).tolist()]
        words = words_in(characters_of([form for own in forms for form in own]))
        return words, np.cumsum([0, *map(len, forms)])


def _with_words(
    lot: TitleLot, places: Int64[np.ndarray, " word"], others: Sequence[str]
) -> dict[int, str]:
    """Return, by row, titles of whose words some are replaced, in ascending places."""
    words = lot.words
    rows = np.searchsorted(words.firsts, places, side="right") - 1
    starts = lot.characters.ends[rows]
    spans = (own[places] - starts for own in (words.begins, words.stops))
    changed: dict[int, str] = {}
    replaced = zip(rows.tolist(), *(own.tolist() for own in spans), others, strict=True)
    for row, begin, stop, other in reversed([*replaced]):  # from the last one: places stay
        title = changed.get(row) or lot.titles[row]
        changed[row] = title[:begin] + other + title[stop:]
    return changed
