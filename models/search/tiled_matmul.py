"""Products of embeddings, the same to the last bit whatever else is multiplied.

Sums of floats depend on their order, and a library's order on the shape of its matrices: so rows
always go through in tiles of one size, on the right of the product. With 16 rows there, and no
more, a row's place within its tile changes nothing in OpenBLAS's kernels for Haswell, SkylakeX and
Sandy Bridge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float32

TILE = 16
"""Rows of a tile."""


def tiled(rows: Float32[np.ndarray, "row dim"]) -> Float32[np.ndarray, "more dim"]:
    """Add rows of zeros until a tile is full."""
    beyond = -len(rows) % TILE
    if not beyond:
        return rows
    return np.concatenate([rows, np.zeros((beyond, rows.shape[1]), np.float32)])


def similarities(
    rows: Float32[np.ndarray, "row dim"], others: Float32[np.ndarray, "other dim"]
) -> Float32[np.ndarray, "row other"]:
    """Return rows · othersᵀ."""
    columns = tiled(rows).reshape(-1, TILE, rows.shape[1]).transpose(0, 2, 1)  # of tiles
    product = others @ columns
    # row by row in memory, too: sums over a row depend on that
    turned = np.ascontiguousarray(product.transpose(0, 2, 1)).reshape(-1, len(others))
    product_rows: Float32[np.ndarray, "row other"] = turned[: len(rows)]
    return product_rows
