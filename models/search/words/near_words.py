"""Words an edit away from a word, by hashes of what remains without a letter.

Of two words an edit apart, one is the other without a letter, or both are equal without one letter
each. So every known word is found by its own hash and by those of it without each of its letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from models.search.words.word_evidence import is_an_edit

if TYPE_CHECKING:
    from jaxtyping import Int32, UInt64

HASH_BASE = 0x9E3779B97F4A7C15
"""Of the polynomial of a word's letters, modulo 2⁶⁴; odd, so that it has an inverse."""
HASH_INVERSE = pow(HASH_BASE, -1, 2**64)


@dataclass(frozen=True)
class NearWords:
    """Known words by their hashes.

    Attributes:
        words: none of them empty.
        hashes: of all words, whole and without each letter, ascending.
        owners: place in `words` of each.
    """

    words: Sequence[str]
    hashes: UInt64[np.ndarray, " hash"]
    owners: Int32[np.ndarray, " hash"]

    @classmethod
    def of(cls, words: Sequence[str]) -> Self:
        """Index words."""
        hashes, owners = _remainders(words)
        order = np.argsort(hashes, kind="stable")
        return cls(words, hashes[order], owners[order])

    def __call__(self, word: str) -> list[str]:
        """Return the known words that an edit makes of one that is not empty, in their order."""
        hashes, _ = _remainders([word])
        starts, ends = (np.searchsorted(self.hashes, hashes, side) for side in ("left", "right"))
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        places = {place for start, end in spans for place in self.owners[start:end].tolist()}
        near = [self.words[place] for place in sorted(places)]
        return [one for one in near if one != word and is_an_edit(*sorted((one, word), key=len))]


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
