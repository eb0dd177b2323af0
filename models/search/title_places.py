"""Where many titles stand in an index, looked up by 64-bit hashes instead of one by one.

Two different titles get the same hash with a probability below 1e-7 (`models/text/featurizer.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from models.search.index import AliasIndex
from models.search.kernels import MANY
from models.text.spans import code_points, segment_hashes

if TYPE_CHECKING:
    from jaxtyping import Int64, UInt64

HASHED_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class TitlePlaces:
    """Looks up titles of an index."""

    index: AliasIndex

    def __call__(self, titles: Sequence[str]) -> Int64[np.ndarray, " title"]:
        """Return the place of each title, −1 of one that the index lacks."""
        if len(titles) < MANY and "_hashed" not in vars(self):  # hashing all of them takes longer
            found = (self.index.place(title) for title in titles)
            return np.array([-1 if place is None else place for place in found], np.int64)
        hashes, places = self._hashed
        own = hashes_of(titles)
        at = np.minimum(np.searchsorted(hashes, own), len(hashes) - 1)
        return np.where(hashes[at] == own, places[at], -1)

    @cached_property
    def _hashed(self) -> tuple[UInt64[np.ndarray, " title"], Int64[np.ndarray, " title"]]:
        """Hashes of all titles, sorted, and the place of each."""
        hashes = hashes_of(self.index.titles)
        order = np.argsort(hashes)
        return hashes[order], order


def hashes_of(titles: Sequence[str]) -> UInt64[np.ndarray, " title"]:
    """Return a hash of the characters of each title."""
    hashes = np.empty(len(titles), np.uint64)
    for start in range(0, len(titles), HASHED_AT_ONCE):
        part = titles[start : start + HASHED_AT_ONCE]
        ends = np.cumsum([0, *map(len, part)])
        points = code_points("".join(part))
        hashes[start : start + len(part)] = segment_hashes(points, ends[:-1], ends[1:])
    return hashes
