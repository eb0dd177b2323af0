"""The qualifiers of titles, by compiled loops where they are at hand, with the same result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.characters import characters_of, classes_for, folded_for
from models.normalizer.loops.phrases import ALL_CAPITALS, ANY_CASE, FIRST_CAPITAL, Phrases
from models.normalizer.qualifiers import ALL_KINDS, MONEY, NUMBER, FoundQualifiers, Qualifiers
from models.normalizer.text_kernels import HashTable, text_kernels, text_kernels_at_hand
from models.search.words.near_words import HASH_BASE

if TYPE_CHECKING:
    from jaxtyping import Int, UInt64


@dataclass(frozen=True, eq=False)
class ManyQualifiers:
    """Finds the qualifiers of titles."""

    qualifiers: Qualifiers

    def __call__(self, raw_titles: Sequence[str]) -> FoundQualifiers:
        """Return what titles say of each kind."""
        found: list[tuple[int, int, str]] = []
        states = np.full(len(raw_titles), -1)  # nothing is known
        if text_kernels_at_hand():
            found = self._find(raw_titles, states)
        name_no_job = states > 0
        for row in np.flatnonzero(states < 0).tolist():
            *own, name_no_job[row] = self.qualifiers(raw_titles[row])
            found += [(row, kind, text) for kind, texts in enumerate(own) for text in texts]
        return FoundQualifiers.of(sorted(found, key=itemgetter(0)), name_no_job)

    def _find(
        self, raw_titles: Sequence[str], states: Int[np.ndarray, " title"]
    ) -> list[tuple[int, int, str]]:
        """Return title, kind and text of what is found, and write the states of titles.

        A state is 1 if a title names no job, −1 if a letter of it has several when it is folded.
        """
        characters = characters_of(raw_titles)
        points, ends = characters
        spans, firsts = np.empty((3, len(points)), np.int64), np.empty(len(ends), np.int64)
        made = (*spans, firsts, states)
        classes, folded = classes_for.known, folded_for(points)
        text_kernels().find_phrases(characters, classes, folded, self._phrases, made)
        rows = np.repeat(np.arange(len(raw_titles)), np.diff(firsts))
        kinds, begins, stops = spans[:, : firsts[-1]]
        columns = (rows, kinds, begins - ends[rows], stops - ends[rows])
        return [
            (row, kind, raw_titles[row][begin:stop])
            for row, kind, begin, stop in zip(*(own.tolist() for own in columns), strict=True)
        ]

    @cached_property
    def _phrases(self) -> Phrases:
        """All phrases by the hashes of their tokens."""
        known = self.qualifiers.known
        tokens = [phrase.split(" ") for phrase in known]
        starts = np.cumsum([0, *map(len, tokens)])
        hashes = _hashes([token for own in tokens for token in own])
        keys = np.empty(len(tokens), np.uint64)
        text_kernels().hash_phrases(hashes, starts, keys)
        firsts, place = np.unique(hashes[starts[:-1]], return_inverse=True)
        lengths = np.zeros(len(firsts) + 1, np.int64)
        np.maximum.at(lengths, place, np.diff(starts))
        number, money = _hashes([NUMBER, MONEY])
        return Phrases(
            *HashTable.of(firsts).arrays,
            lengths,
            *HashTable.of(keys).arrays,
            np.array([ALL_KINDS.index(kind) for kind, _ in known.values()], np.int64),
            np.array([_capitals(phrase) for _, phrase in known.values()], np.int64),
            number,
            money,
        )


def _capitals(phrase: str) -> int:
    if phrase.isupper():
        return ALL_CAPITALS
    return FIRST_CAPITAL if phrase[0].isupper() else ANY_CASE


def _hashes(tokens: Sequence[str]) -> UInt64[np.ndarray, " token"]:
    hashes = []
    for token in tokens:
        total = 0
        for character in reversed(token):
            total = (total * HASH_BASE + ord(character)) % 2**64
        hashes.append(total)
    return np.array(hashes, np.uint64)
