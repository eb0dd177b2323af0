"""The qualifiers of many titles, by compiled loops; the same as `Qualifiers` title by title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.characters import characters_of, classes_for, folded_for
from models.normalizer.loops.phrases import ALL_CAPITALS, ANY_CASE, FIRST_CAPITAL, Phrases
from models.normalizer.qualifiers import ALL_KINDS, MONEY, NUMBER, FoundQualifiers, Qualifiers
from models.normalizer.text_kernels import HashTable, text_kernels
from models.search.words.near_words import HASH_BASE

if TYPE_CHECKING:
    from jaxtyping import UInt64


@dataclass(frozen=True, eq=False)
class ManyQualifiers:
    """Finds the qualifiers of titles."""

    qualifiers: Qualifiers

    def __call__(self, raw_titles: Sequence[str]) -> FoundQualifiers:
        """Return what titles say of each kind."""
        characters = characters_of(raw_titles)
        points, ends = characters
        classes, folded = classes_for.known, folded_for(points)
        spans, firsts = np.empty((3, len(points)), np.int64), np.empty(len(ends), np.int64)
        states = np.empty(len(raw_titles), np.int64)
        found = (*spans, firsts, states)
        text_kernels().find_phrases(characters, classes, folded, self._phrases, found)
        rows = np.repeat(np.arange(len(raw_titles)), np.diff(firsts))
        kinds, begins, stops = spans[:, : firsts[-1]]
        places = zip(
            rows.tolist(), *((one - ends[rows]).tolist() for one in (begins, stops)), strict=True
        )
        texts = [raw_titles[row][begin:stop] for row, begin, stop in places]
        made = FoundQualifiers(rows, kinds, np.fromiter(texts, object, len(texts)), states > 0)
        slow = np.flatnonzero(states < 0)  # a letter whose folding has several
        return made.joined(slow, [self.qualifiers(raw_titles[row]) for row in slow.tolist()])

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
