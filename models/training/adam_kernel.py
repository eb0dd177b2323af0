"""One update of lazy Adam on a CPU, compiled: it reads and writes each number once.

A row is the work of one thread, so the bits are the same whatever their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int64


@numba.njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def update(
    table: Float[np.ndarray, "row dim"],
    moments: tuple[Float[np.ndarray, "row dim"], Float[np.ndarray, "row dim"]],
    rows: Int64[np.ndarray, " read"],
    gradients: Float[np.ndarray, "read dim"],
    factors: Float[np.ndarray, " 4"],
) -> None:
    """Change `rows` of the table and of both moments.

    `factors`: 1 - β₁, 1 - β₂, the learning rate and ε, both corrected for the bias of the moments;
    in the type of the table.
    """
    mean, square = moments
    first, second, rate, epsilon = factors
    for place in numba.prange(len(rows)):
        row = rows[place]
        for d in range(table.shape[1]):
            gradient = gradients[place, d]
            mean[row, d] += (gradient - mean[row, d]) * first
            square[row, d] += (gradient * gradient - square[row, d]) * second
            table[row, d] -= rate * mean[row, d] / (np.sqrt(square[row, d]) + epsilon)
