"""Titles that are longer than the network reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.text.featurizer import Featurizer
from models.text.titles import LONGEST

if TYPE_CHECKING:
    from jaxtyping import Bool


def are_truncated(titles: Sequence[str], featurizer: Featurizer) -> Bool[np.ndarray, " title"]:
    """Say which cleaned titles are longer than the network reads, or as long as any may be."""
    least = min(one.units.max_length for one in featurizer.vocabularies)
    lengths = np.array([len(title) for title in titles], int)
    truncated = lengths > least  # perhaps: a unit has a character at least
    if truncated.any():
        long = [title for title, may in zip(titles, truncated, strict=True) if may]
        truncated[truncated] = featurizer(long).truncated
    longest: Bool[np.ndarray, " title"] = truncated | (lengths >= LONGEST)
    return longest
