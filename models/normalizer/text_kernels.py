"""The loops over the characters of many titles, compiled by numba, and tables of hashes for them.

Each of them does what a module beside it does title by title with regular expressions, and gives
the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from models.normalizer.loops.characters import Characters, classes_for
from models.normalizer.loops.cleaning import (
    clean_one,
    clean_titles,
    hash_cleaned,
    hash_normalized,
    hash_of,
    may_be_dotted,
)
from models.normalizer.loops.hashing import (
    Hashes,
    Numbers,
    fill_slots,
    mixed,
    number_words,
    slot_of,
)
from models.normalizer.loops.phrases import (
    end_of_token,
    find_phrases,
    hash_phrases,
    is_spelled,
    longest_phrase,
    tokens_between,
)
from models.normalizer.loops.row_sums import add_half_rows, add_rows
from models.normalizer.loops.unit_ids import add_known, find_units, is_of_unit
from models.normalizer.loops.words import (
    Words,
    are_an_edit,
    are_same_word,
    common_letters,
    compare_words,
    find_words,
    lacking_share,
    mark_words,
)
from models.search.compiling import compile_all
from models.search.kernels import Kernels, kernels_at_hand


def text_kernels_at_hand() -> Kernels | None:
    """Return the kernels if those of the search were compiled before."""
    return text_kernels() if kernels_at_hand() else None


@cache
def text_kernels() -> Kernels:
    """Return the kernels; numba has to be there."""
    functions = (
        *(fill_slots, find_units, find_words, number_words),
        *(compare_words, mark_words),
        *(hash_phrases, find_phrases),
        *(clean_titles, hash_cleaned, hash_normalized),
    )
    inner = (
        *(mixed, slot_of, is_of_unit, add_known, clean_one, hash_of),
        *(common_letters, are_an_edit, are_same_word, lacking_share),
        *(end_of_token, is_spelled, tokens_between, longest_phrase, may_be_dotted),
    )
    sums = (add_rows, add_half_rows)
    made = (compile_all(functions, inner, reorder=False) or []) + (compile_all(sums, ()) or [])
    names = (one.__name__ for one in (*functions, *sums))
    return Kernels(**dict(zip(names, map(_of_plain_tuples, made), strict=True)))


def _of_plain_tuples(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a compiled function take named tuples."""
    return lambda *values: function(
        *(tuple(value) if isinstance(value, tuple) else value for value in values)
    )


def words_in(characters: Characters) -> Words:
    """Find the words of texts."""
    points, ends = characters
    begins, stops = np.empty((2, len(points) // 2 + len(ends)), np.int64)
    firsts, hashes = np.empty(len(ends), np.int64), np.empty(len(begins), np.uint64)
    made = (begins, stops, firsts, hashes)
    count = text_kernels().find_words(characters, classes_for.known, *made)
    own = begins[:count].copy(), stops[:count].copy(), firsts, hashes[:count].copy()
    return Words(points, *own)


@dataclass(frozen=True, eq=False)
class HashTable:
    """Hashes to their numbers, in open addressing.

    Attributes:
        keys: a hash in each slot that is taken.
        numbers: of these; −1 in a free slot.
    """

    keys: Hashes
    numbers: Numbers

    @classmethod
    def of(cls, hashes: Hashes) -> Self:
        """Number hashes by their places; of equal ones the first counts. It needs the kernels."""
        slots = 1 << (2 * len(hashes)).bit_length()
        made = cls(np.zeros(slots, np.uint64), np.full(slots, -1, np.int32))
        text_kernels().fill_slots(hashes, made.keys, made.numbers)
        return made

    def numbers_of(self, hashes: Hashes) -> Numbers:
        """Return the number of each hash, −1 of one that the table lacks."""
        found = np.empty(len(hashes), np.int32)
        text_kernels().number_words(hashes, *self.arrays, found)
        return found

    @property
    def arrays(self) -> tuple[Hashes, Numbers]:
        """Both, for the kernels."""
        return self.keys, self.numbers
