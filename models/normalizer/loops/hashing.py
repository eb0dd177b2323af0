"""Compiled loops that look hashes up in tables of open addressing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from models.search.words.near_words import HASH_BASE
from models.text.spans import FACTOR

if TYPE_CHECKING:
    from jaxtyping import Int32, UInt64

Hashes: TypeAlias = "UInt64[np.ndarray, ' hash']"
Numbers: TypeAlias = "Int32[np.ndarray, ' number']"

STEP_64, BASE_64 = np.uint64(FACTOR), np.uint64(HASH_BASE)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
NOTHING_64, ONE_64 = np.uint64(0), np.uint64(1)


def mixed(value: np.uint64) -> np.uint64:
    """Let every bit depend on every other, as `models/text/spans.py` does."""
    value = value + STEP_64
    value = (value ^ (value >> SHIFT_1)) * MIX_1
    value = (value ^ (value >> SHIFT_2)) * MIX_2
    return value ^ (value >> SHIFT_3)


def slot_of(keys: Hashes, numbers: Numbers, key: np.uint64) -> np.uint64:
    """Return the slot of a key, or the free one where it belongs."""
    last = np.uint64(len(keys) - 1)
    slot = mixed(key) & last
    while numbers[slot] >= 0 and keys[slot] != key:
        slot = (slot + ONE_64) & last
    return slot


def fill_slots(hashes: Hashes, keys: Hashes, numbers: Numbers) -> None:
    """Put hashes into a free table."""
    for number in range(len(hashes)):
        slot = slot_of(keys, numbers, hashes[number])
        if numbers[slot] < 0:
            keys[slot], numbers[slot] = hashes[number], number


def number_words(hashes: Hashes, keys: Hashes, known: Numbers, numbers: Numbers) -> None:
    """Write the number of each word by its hash, −1 of an unknown one."""
    for word in range(len(hashes)):
        numbers[word] = known[slot_of(keys, known, hashes[word])]
