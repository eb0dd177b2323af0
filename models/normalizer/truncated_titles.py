"""Titles that are longer than the network reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from models.text.featurizer import Featurizer
from models.text.titles import LONGEST
from models.text.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import Bool


def are_truncated(titles: Sequence[str], featurizer: Featurizer) -> Bool[np.ndarray, " title"]:
    """Say which cleaned titles are longer than the network reads, or as long as any may be."""
    lengths = np.fromiter(map(len, titles), int, len(titles))
    truncated: Bool[np.ndarray, " title"] = lengths >= LONGEST
    may_be = lengths > min(_longest_whole(one.units) for one in featurizer.vocabularies)
    if may_be.any():
        truncated[may_be] |= featurizer([*compress(titles, may_be)]).truncated
    return truncated


def _longest_whole(units: UnitSettings) -> int:
    """Return how long a title may be and surely be read whole; words have a sign between them."""
    return units.max_length * (2 if units.unit in ("word", "subword") else 1)
