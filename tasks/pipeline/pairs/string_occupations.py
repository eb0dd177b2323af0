"""Which strings belong to which occupations, as arrays from which pairs are drawn."""

from __future__ import annotations

import numpy as np
import polars as pl


class StringOccupations:
    """The occupations of each string and the strings of each occupation.

    Attributes:
        ids: of the strings, rising.
        string: string ids, grouped by occupation; a string of two occupations stands twice.
        start, size: of each row's group.
        place: of each row in its group.
    """

    def __init__(self, ids: np.ndarray, occupation_ids: pl.Series) -> None:
        flat = pl.DataFrame({"string": ids, "occupation": occupation_ids}).explode("occupation")
        flat = flat.sort("occupation", "string")
        code = flat["occupation"].rank("dense").to_numpy().astype(np.int64) - 1
        self.ids, self.string = ids, flat["string"].to_numpy()
        self._codes = _padded(np.searchsorted(ids, self.string), code, len(ids))
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        sizes = np.diff(starts, append=code.size)
        self.start, self.size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        self.place = np.arange(code.size) - self.start
        self._by_string = np.argsort(self.string, kind="stable")

    def drawn_beside(self, strings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw for each string one of an occupation that it has, itself perhaps."""
        sorted_ = self.string[self._by_string]
        first, end = (np.searchsorted(sorted_, strings, side) for side in ("left", "right"))
        row = self._by_string[rng.integers(first, end)]
        drawn: np.ndarray = self.string[self.start[row] + rng.integers(0, self.size[row])]
        return drawn

    def share_occupation(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return a boolean per pair of string ids."""
        one = self._codes[np.searchsorted(self.ids, left)][:, :, None]
        other = self._codes[np.searchsorted(self.ids, right)][:, None, :]
        shared: np.ndarray = ((one == other) & (one >= 0)).any(axis=(1, 2))
        return shared


def _padded(row: np.ndarray, code: np.ndarray, count: int) -> np.ndarray:
    lengths, order = np.bincount(row, minlength=count), np.argsort(row, kind="stable")
    place = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = np.full((count, lengths.max(initial=1)), -1, np.int64)
    codes[row[order], place] = code[order]
    return codes
