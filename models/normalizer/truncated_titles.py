"""Titles that are longer than the network reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.title_lot import TitleLot, chosen, lengths_of
from models.text.featurizer import Featurizer
from models.text.titles import LONGEST

if TYPE_CHECKING:
    from jaxtyping import Bool


def are_truncated(titles: Sequence[str], featurizer: Featurizer) -> Bool[np.ndarray, " title"]:
    """Say which cleaned titles are longer than the network reads, or as long as any may be."""
    lengths = lengths_of(titles)
    truncated: Bool[np.ndarray, " title"] = lengths >= LONGEST
    if isinstance(titles, TitleLot):
        for units in (one.units for one in featurizer.vocabularies):
            by_word = units.unit in ("word", "subword")
            truncated |= (titles.unit_words if by_word else lengths) > units.max_length
        return truncated
    may_be = lengths > min(one.units.max_length for one in featurizer.vocabularies)
    if may_be.any():  # a unit has a character at least
        truncated[may_be] |= featurizer(chosen(titles, may_be)).truncated
    return truncated
