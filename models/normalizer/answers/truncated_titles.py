"""Titles that are longer than the network reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.title_lot import TitleLot
from models.text.featurizer import Featurizer
from models.text.titles import LONGEST

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

BY_WORD = ("word", "subword")
"""Units of which so many words are read."""


def are_truncated(titles: Sequence[str], featurizer: Featurizer) -> Bool[np.ndarray, " title"]:
    """Say which cleaned titles are longer than the network reads, or as long as any may be."""
    lengths = np.fromiter(map(len, titles), int, len(titles))
    truncated: Bool[np.ndarray, " title"] = lengths >= LONGEST
    may_be = np.zeros(len(titles), bool)
    for vocabulary in featurizer.vocabularies:
        units = vocabulary.units
        may_be |= (_most_words(titles) if units.unit in BY_WORD else lengths) > units.max_length
    if may_be.any():
        truncated[may_be] |= featurizer([*compress(titles, may_be)]).truncated
    return truncated


def _most_words(titles: Sequence[str]) -> Int[np.ndarray, " title"]:
    """Return how many words each title has at most; they have a sign between them."""
    if isinstance(titles, TitleLot):
        return titles.most_unit_words
    return np.array([(len(title) + 1) // 2 for title in titles], int)
