"""Which strings belong to which occupations, as arrays from which pairs are drawn."""

from __future__ import annotations

import numpy as np
import polars as pl


class Memberships:
    """The occupations of each string and the strings of each occupation.

    Attributes:
        string: string ids, grouped by occupation; a string of two occupations stands twice.
        start, size: of each row's group.
        place: of each row in its group.
        codes: occupation codes of every string [string, most], padded with -1.
        first: id of the first string; the others follow it.
    """

    def __init__(self, occupation_ids: pl.Series, first: int = 0) -> None:
        flat = pl.DataFrame(
            {"string": pl.int_range(len(occupation_ids), eager=True), "occupation": occupation_ids}
        ).explode("occupation")
        code = flat["occupation"].rank("dense").to_numpy().astype(np.int64) - 1
        string = flat["string"].to_numpy()
        self.codes = _padded(string, code, len(occupation_ids))
        order = np.lexsort((string, code))
        self.first, self.string, code = first, first + string[order], code[order]
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
        one = self.codes[left - self.first][:, :, None]
        other = self.codes[right - self.first][:, None, :]
        shared: np.ndarray = ((one == other) & (one >= 0)).any(axis=(1, 2))
        return shared


def _padded(string: np.ndarray, code: np.ndarray, count: int) -> np.ndarray:
    lengths = np.bincount(string, minlength=count)
    place = np.arange(string.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = np.full((count, lengths.max(initial=1)), -1, np.int64)
    codes[string, place] = code
    return codes
