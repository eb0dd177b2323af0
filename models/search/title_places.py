"""Where titles stand in an index, many of them looked up by 64-bit hashes instead of one by one.

Two different titles get the same hash with a probability below 1e-7 (`models/text/featurizer.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from models.search.index import AliasIndex
from models.search.kernels import MANY
from models.text.spans import code_points, segment_hashes

if TYPE_CHECKING:
    from jaxtyping import Int64, UInt64

HASHED_AT_ONCE = 1 << 13
REMEMBERED_PLACES = 1 << 12


class HashedTitles(Sequence[str]):
    """Titles that know their hashes."""

    @property
    @abstractmethod
    def hashes(self) -> UInt64[np.ndarray, " title"]:
        """Those that `hashes_of` makes of them."""


@dataclass(frozen=True, eq=False)
class TitlePlaces:
    """Looks up titles of an index."""

    index: AliasIndex

    def __call__(self, titles: Sequence[str]) -> Int64[np.ndarray, " title"]:
        """Return the place of each title, −1 of one that the index lacks."""
        if len(titles) < MANY and "_hashed" not in vars(self):  # hashing all of them takes longer
            return np.array([self._place(title) for title in titles], np.int64)
        return self.of_hashes(hashes_of(titles))

    def of_hashes(self, own: UInt64[np.ndarray, " title"]) -> Int64[np.ndarray, " title"]:
        """Return the place of each title by its hash, −1 of one that the index lacks."""
        hashes, places = self._hashed
        at = np.minimum(np.searchsorted(hashes, own), len(hashes) - 1)
        return np.where(hashes[at] == own, places[at], -1)

    def __contains__(self, title: object) -> bool:
        """Say whether a title is one of the index."""
        return isinstance(title, str) and self._place(title) >= 0

    @cached_property
    def _place(self) -> Callable[[str], int]:
        """Looks up one title; a title is asked several times on its way to an answer."""

        def place(title: str) -> int:
            found = self.index.place(title)
            return -1 if found is None else found

        return lru_cache(REMEMBERED_PLACES)(place)

    @cached_property
    def _hashed(self) -> tuple[UInt64[np.ndarray, " title"], Int64[np.ndarray, " title"]]:
        """Hashes of all titles, sorted, and the place of each."""
        hashes = hashes_of(self.index.titles)
        order = np.argsort(hashes)
        return hashes[order], order


def are_among(
    ascending: UInt64[np.ndarray, " known"], hashes: UInt64[np.ndarray, " title"]
) -> list[int]:
    """Return the rows of titles whose hashes are some of the known ones."""
    at = np.minimum(np.searchsorted(ascending, hashes), len(ascending) - 1)
    return np.flatnonzero(ascending[at] == hashes).tolist()


def hashes_of(titles: Sequence[str]) -> UInt64[np.ndarray, " title"]:
    """Return a hash of the characters of each title."""
    if isinstance(titles, HashedTitles):
        return titles.hashes
    hashes, rest = np.empty(len(titles), np.uint64), iter(titles)
    for start in range(0, len(titles), HASHED_AT_ONCE):
        part = [*islice(rest, HASHED_AT_ONCE)]
        ends = np.cumsum([0, *map(len, part)])
        points = code_points("".join(part) + " ")  # the last one may be empty
        hashes[start : start + len(part)] = segment_hashes(points, ends[:-1], ends[1:])
    return hashes
