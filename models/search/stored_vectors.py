"""A table of embeddings as it is stored: rows of whole numbers in four or eight bits, or floats.

A stored row is its numbers and the factor that brings them to unit norm; the table is read where it
lies in the file. Of half bytes, a byte holds 8 + number j of the first half of a row in its lower
bits and 8 + number j of the second half in its upper ones (`models/network/quantization.py`).
Products with its rows are the same to the last bit, whatever else is multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from models.search.row_blocks import LANES, blocks_of, filled

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64, Shaped

HALF_BYTES, LOWER, EIGHTS = 4, 15, 8
STEPS = 1 << 13
"""The norm of a whole title. A row of bytes has one of 127·√dim at most: with 256 dimensions, no
sum of products is larger than 2²⁴."""
FLOATS = 1 << 10
"""The norm of a row of floats that is made whole."""
ROWS_AT_ONCE = 1 << 14
ROWS_IN_CACHE = 1 << 9
"""Rows that are made floats at once: memory for more is given back, and asked for anew."""
TILE = 16
"""Rows of floats that are multiplied at once, by `similarities`."""


def whole(embeddings: Float32[np.ndarray, "title dim"]) -> Float32[np.ndarray, "title dim"]:
    """Return embeddings of unit norm as whole numbers."""
    numbers: Float32[np.ndarray, "title dim"] = np.round(embeddings * np.float32(STEPS))
    return numbers


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """A table of embeddings of unit norm.

    Attributes:
        rows: a record each, of the fields `numbers` (uint8: two half bytes) and `factor`.
    """

    rows: Shaped[np.ndarray, " row"]

    @classmethod
    def of(cls, numbers: Shaped[np.ndarray, "row _"]) -> Self:
        """Store half bytes (uint8), bytes (int8) or floats; a row of zeros stays one."""
        kind = [("numbers", numbers.dtype, numbers.shape[1:]), ("factor", np.float32)]
        rows = np.empty(len(numbers), kind)
        rows["numbers"], rows["factor"] = numbers, 1
        table = cls(rows)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = np.arange(start, min(start + ROWS_AT_ONCE, len(rows)))
            norms = np.linalg.norm(table[part], axis=1)
            rows["factor"][part] = 1 / np.where(norms > 0, norms, 1)
        return table

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(
        self, places: Int64[np.ndarray, " place"] | slice
    ) -> Float32[np.ndarray, "place dim"]:
        """Return rows as floats of unit norm."""
        rows: Float32[np.ndarray, "place dim"] = _signed(self.rows["numbers"][places]).astype(
            np.float32
        )
        rows *= self.rows["factor"][places, None]
        return rows

    def blocks(
        self, places: Int64[np.ndarray, " link"], starts: Int64[np.ndarray, " group+1"]
    ) -> tuple[
        Shaped[np.ndarray, "block pair number"],
        Int64[np.ndarray, " group+1"],
        Float32[np.ndarray, " row"],
    ]:
        """Return the rows of groups of links as whole numbers in blocks, for compiled loops.

        Returns:
            The blocks; where those of each group begin, with the end of the last; and what makes
            the products of each of their rows with titles cosines. Products are exact, as those of
            `near` are.
        """
        links, begins = filled(starts)
        none = blocks_of(_whole_rows(self.rows[:0])[0])
        kind = np.int8 if none.dtype == np.int8 else np.int16
        blocks = np.empty((begins[-1], *none.shape[1:]), kind)
        factors = np.empty(len(links), np.float32)
        for start in range(0, len(links), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            rows, factors[part] = _whole_rows(self.rows.take(places[links[part]]))
            blocks[start // LANES : part.stop // LANES] = blocks_of(rows)
        return blocks, begins, factors

    def near(
        self, titles: Float32[np.ndarray, "title dim"], places: Int64[np.ndarray, " place"]
    ) -> Float32[np.ndarray, "title place"]:
        """Return the cosines of whole titles with some rows; no other title changes a bit."""
        near = np.empty((len(titles), len(places)), np.float32)
        for start in range(0, len(places), ROWS_IN_CACHE):
            part = slice(start, start + ROWS_IN_CACHE)
            rows, factors = _whole_rows(self.rows.take(places[part]))
            np.matmul(titles, rows.astype(np.float32, copy=False).T, out=near[:, part])
            near[:, part] *= factors
        return near


def _whole_rows(
    records: Shaped[np.ndarray, " row"],
) -> tuple[Shaped[np.ndarray, "row dim"], Float32[np.ndarray, " row"]]:
    numbers, factors = _signed(records["numbers"]), records["factor"] / np.float32(STEPS)
    if numbers.dtype == np.int8:
        return numbers, factors
    return np.round(numbers * FLOATS), factors / np.float32(FLOATS)


def _signed(numbers: Shaped[np.ndarray, "row _"]) -> Shaped[np.ndarray, "row dim"]:
    """Return half bytes as bytes, and other numbers as they are."""
    if numbers.dtype != np.uint8:
        return np.ascontiguousarray(numbers)
    wide = np.concatenate([numbers & LOWER, numbers >> HALF_BYTES], axis=1)
    return wide.view(np.int8) - np.int8(EIGHTS)


def tiled(rows: Float32[np.ndarray, "row dim"]) -> Float32[np.ndarray, "more dim"]:
    """Add rows of zeros until a tile is full."""
    beyond = -len(rows) % TILE
    if not beyond:
        return rows
    return np.concatenate([rows, np.zeros((beyond, rows.shape[1]), np.float32)])


def similarities(
    rows: Float32[np.ndarray, "row dim"], others: Float32[np.ndarray, "other dim"]
) -> Float32[np.ndarray, "row other"]:
    """Return rows · othersᵀ.

    Sums of floats depend on their order, and a library's order on the shape of its matrices: so
    rows always go through in tiles of one size, on the right of the product. With 16 rows there,
    and no more, a row's place within its tile changes nothing in OpenBLAS's kernels for Haswell,
    SkylakeX and Sandy Bridge.
    """
    columns = tiled(rows).reshape(-1, TILE, rows.shape[1]).transpose(0, 2, 1)  # of tiles
    product = others @ columns
    # row by row in memory, too: sums over a row depend on that
    turned = np.ascontiguousarray(product.transpose(0, 2, 1)).reshape(-1, len(others))
    product_rows: Float32[np.ndarray, "row other"] = turned[: len(rows)]
    return product_rows
