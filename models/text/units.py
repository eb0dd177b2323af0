"""The settings that a featurizer is fitted by: the units of a string that an encoder reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class UnitSettings:
    """Units of a cleaned title, and which of them get an id of their own.

    Ids: 0 is padding, 1 a unit outside the vocabulary (characters and words; n-grams and subwords
    outside it are left out), 2 and up the vocabulary.
    """

    unit: Literal["character", "ngram", "word", "subword"]
    """`subword`: n-grams inside of words, whole words, and pairs of neighbouring words (Bojanowski
    et al. 2017 have the first two)."""
    max_length: int
    """Characters read of a title (words, if the unit is made of words); the rest is cut and
    flagged."""
    orders: tuple[int, ...] = ()
    """Lengths of the n-grams, in characters, a space before and after the title included; of
    subwords a space before and after each word."""
    min_count: int = 1
    """Occurrences in the training titles from which on a unit is in the vocabulary (C)."""
    most: int = 0
    """Most frequent units of each order that are kept; 0 keeps all."""
    buckets: int = 0
    """Above 0 there is no vocabulary: a unit's id is its hash modulo this many."""
