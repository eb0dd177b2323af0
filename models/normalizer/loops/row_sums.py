"""Compiled loops that add up a row for each unit of a title (`models/normalizer/bag.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from models.search.kernels import BY_FOUR

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int, Shaped, UInt8


def add_rows(
    ids: Int[np.ndarray, " unit"],
    starts: Int[np.ndarray, " title+1"],
    rows: Shaped[np.ndarray, "row dim"],
    scales: Float32[np.ndarray, " row"],
    sums: Float64[np.ndarray, "title dim"],
) -> None:
    """Add up the rows of each title's units times their scales."""
    for title in range(len(sums)):
        total = sums[title]
        for place in range(starts[title], starts[title + 1]):
            row, scale = rows[ids[place]], np.float64(scales[ids[place]])
            for d in range(len(row)):
                total[d] += scale * row[d]


def add_half_rows(
    ids: Int[np.ndarray, " unit"],
    starts: Int[np.ndarray, " title+1"],
    rows: UInt8[np.ndarray, "row half"],
    scales: Float32[np.ndarray, " row"],
    sums: Float64[np.ndarray, "title dim"],
) -> None:
    """Add up rows of half bytes, 8 too large; four at once, since sums outgrow the registers."""
    half, lowest, shift = rows.shape[1], np.uint8(15), np.uint8(4)
    for title in range(len(sums)):
        lower, upper = sums[title, :half], sums[title, half:]
        last = starts[title + 1] - 1
        for place in range(starts[title], last + 1, BY_FOUR):
            a, b = ids[place], ids[min(place + 1, last)]
            c, d = ids[min(place + 2, last)], ids[min(place + 3, last)]
            by_a, by_b = np.float64(scales[a]), np.float64(scales[b] * (place < last))
            by_c = np.float64(scales[c] * (place + 1 < last))
            by_d = np.float64(scales[d] * (place + 2 < last))
            one, two, three, more = rows[a], rows[b], rows[c], rows[d]
            for at in range(half):
                x, y, z, w = one[at], two[at], three[at], more[at]
                lower[at] += by_a * (x & lowest) + by_b * (y & lowest)
                lower[at] += by_c * (z & lowest) + by_d * (w & lowest)
                upper[at] += by_a * (x >> shift) + by_b * (y >> shift)
                upper[at] += by_c * (z >> shift) + by_d * (w >> shift)
