"""Which strings belong to which occupations, as arrays from which pairs are drawn."""

from __future__ import annotations

import numpy as np
import polars as pl


class StringOccupations:
    """The occupations of each string and the strings of each occupation.

    Attributes:
        ids: of the strings, rising.
        string: string ids, grouped by occupation and within it by language; a string of two
            occupations stands twice.
        start, size: of each row's occupation.
        language_start, language_size: of those of its occupation in its language.
    """

    def __init__(
        self, ids: np.ndarray, occupation_ids: pl.Series, languages: pl.Series | None = None
    ) -> None:
        language = languages if languages is not None else pl.Series([""] * len(ids))
        columns = {"string": ids, "occupation": occupation_ids, "language": language}
        flat = pl.DataFrame(columns).explode("occupation").sort("occupation", "language", "string")
        code = flat["occupation"].rank("dense").to_numpy().astype(np.int64) - 1
        self.ids, self.string = ids, flat["string"].to_numpy()
        self._codes = _padded(np.searchsorted(ids, self.string), code, len(ids))
        self.start, self.size = _runs(code)
        self.language_start, self.language_size = _runs(
            flat.select(pl.struct("occupation", "language").rle_id()).to_series().to_numpy()
        )
        self._by_string = np.argsort(self.string, kind="stable")

    def others_of(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw for each row another string of its occupation, of which there is one or more."""
        return self._drawn(rows, self.start, self.size, rng)

    def others_in_language(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw as `others_of` among the strings of the row's language; -1 where it is alone."""
        several = self.language_size[rows] > 1
        drawn = np.full(rows.size, -1, np.int64)
        drawn[several] = self._drawn(rows[several], self.language_start, self.language_size, rng)
        return drawn

    def _drawn(
        self, rows: np.ndarray, start: np.ndarray, size: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        place = rng.integers(0, size[rows] - 1)
        place += place >= rows - start[rows]
        drawn: np.ndarray = self.string[start[rows] + place]
        return drawn

    def drawn_beside(
        self, strings: np.ndarray, rng: np.random.Generator, across_languages: float = 1.0
    ) -> np.ndarray:
        """Draw for each string one of an occupation that it has, itself perhaps.

        `across_languages` of the draws are from any language, the others from the string's own.
        """
        sorted_ = self.string[self._by_string]
        first, end = (np.searchsorted(sorted_, strings, side) for side in ("left", "right"))
        row = self._by_string[rng.integers(first, end)]
        start, size = self.start[row], self.size[row]
        if across_languages < 1:
            own = rng.random(row.size) >= across_languages
            start = np.where(own, self.language_start[row], start)
            size = np.where(own, self.language_size[row], size)
        drawn: np.ndarray = self.string[start + rng.integers(0, size)]
        return drawn

    def share_occupation(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return a boolean per pair of string ids."""
        one = self._codes[np.searchsorted(self.ids, left)][:, :, None]
        other = self._codes[np.searchsorted(self.ids, right)][:, None, :]
        shared: np.ndarray = ((one == other) & (one >= 0)).any(axis=(1, 2))
        return shared


def _runs(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return start and size of each row's run of equal codes."""
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    sizes = np.diff(starts, append=code.size)
    return np.repeat(starts, sizes), np.repeat(sizes, sizes)


def _padded(row: np.ndarray, code: np.ndarray, count: int) -> np.ndarray:
    lengths, order = np.bincount(row, minlength=count), np.argsort(row, kind="stable")
    place = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = np.full((count, lengths.max(initial=1)), -1, np.int64)
    codes[row[order], place] = code[order]
    return codes
