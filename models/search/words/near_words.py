"""Words an edit away from a word, by hashes of what remains without a letter.

Of two words an edit apart, one is the other without a letter, or both are equal without one letter
each. So every known word is found by its own hash and by those of it without each of its letters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from models.search.words.word_evidence import is_an_edit

if TYPE_CHECKING:
    from jaxtyping import Int32, Int64, UInt64

HASH_BASE = 0x9E3779B97F4A7C15
"""Of the polynomial of a word's letters, modulo 2⁶⁴; odd, so that it has an inverse."""
HASH_INVERSE = pow(HASH_BASE, -1, 2**64)


@dataclass(frozen=True)
class NearWords:
    """Known words by their hashes.

    Attributes:
        words: none of them empty, sorted.
        counts: how frequent each is.
        hashes: of all words, whole and without each letter, ascending.
        owners: place in `words` of each.
    """

    words: Sequence[str]
    counts: Int64[np.ndarray, " word"]
    hashes: UInt64[np.ndarray, " hash"]
    owners: Int32[np.ndarray, " hash"]

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """Index words, with how frequent each is."""
        words = sorted(counts)
        hashes, owners = _remainders(words)
        order = np.argsort(hashes, kind="stable")
        frequent = np.array([*map(counts.__getitem__, words)], np.int64)
        return cls(words, frequent, hashes[order], owners[order])

    def best(self, least: Mapping[str, int]) -> dict[str, str]:
        """Return the most frequent known word that an edit makes of each word, where there is one.

        Of equally frequent ones it is the first. `least`: how frequent it has to be, by words that
        are not empty; above 0, the first letter has to agree as well.
        """
        words, best = [*least], dict[str, str]()
        if not self.words:
            return best
        hashes, queried = _remainders(words)
        order = np.argsort(hashes)  # neighbours are looked up in a fraction of the time
        starts = np.searchsorted(self.hashes, hashes[order])
        is_there = self.hashes.take(starts, mode="clip") == hashes[order]
        starts, order = starts[is_there], order[is_there]
        sizes = np.searchsorted(self.hashes, hashes[order], side="right") - starts
        ranks = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        owners = self.owners[np.repeat(starts, sizes) + ranks]
        queried = np.repeat(queried[order], sizes)
        often = self.counts[owners] >= np.array([*least.values()])[queried]
        queried, owners = queried[often], owners[often]
        ranked = np.lexsort((owners, -self.counts[owners]))
        for place, owner in zip(queried[ranked].tolist(), owners[ranked].tolist(), strict=True):
            word, one = words[place], self.words[owner]
            is_new = word not in best and one != word and (one[0] == word[0] or not least[word])
            if is_new and is_an_edit(*sorted((one, word), key=len)):
                best[word] = one
        return best


def _remainders(
    words: Sequence[str],
) -> tuple[UInt64[np.ndarray, " hash"], Int32[np.ndarray, " hash"]]:
    """Return the hashes of words, whole and then without each letter, and whose they are."""
    owners = np.arange(len(words), dtype=np.int32)
    sizes = np.array([len(word) for word in words], np.int64)
    starts = np.cumsum(sizes) - sizes
    text = "".join(words).encode("utf-32-le", "surrogatepass")
    powers = np.full(sizes.max(initial=1), HASH_BASE, np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers)
    places = np.arange(len(text) // 4) - np.repeat(starts, sizes)
    terms = np.frombuffer(text, np.uint32).astype(np.uint64) * powers[places]
    before = np.cumsum(terms) - terms
    before -= np.repeat(before[starts], sizes)
    whole = np.add.reduceat(terms, starts) if len(words) else terms
    after = np.repeat(whole, sizes) - before - terms
    return (
        np.concatenate([whole, before + after * np.uint64(HASH_INVERSE)]),
        np.concatenate([owners, np.repeat(owners, sizes)]),
    )
