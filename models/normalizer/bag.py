"""A network that adds up a row of one table for each unit of a title, without ONNX.

Rows are read as they are stored (`models/network/quantization.py`): whole numbers in eight or four
bits with a scale each, or floats. Their sums are in double precision, where scales times small
whole numbers add up without rounding: so a title gets the same bits whatever is embedded with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from models.search.kernels import kernels_at_hand
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int, Shaped

HALF_BYTE, EIGHT = 4, 8
"""Bits of a number, and what is added to it."""


@dataclass(frozen=True, eq=False)
class Bag:
    """Cleaned titles to embeddings of unit norm; of a title without a known unit, the bias's.

    Attributes:
        featurizer: of one kind of unit.
        rows: whole numbers (uint8: two half bytes) or floats of each unit.
        scales: of each row.
        bias: added to the sum, or zeros.
        tanh: whether its hyperbolic tangent is the embedding.
    """

    featurizer: Featurizer
    rows: Shaped[np.ndarray, "unit _"]
    scales: Float32[np.ndarray, " unit"]
    bias: Float32[np.ndarray, " dim"]
    tanh: bool

    def __call__(self, titles: Sequence[str]) -> Float32[np.ndarray, "title dim"]:
        """Embed titles."""
        (ids,) = self.featurizer(titles).streams
        starts = np.concatenate([[0], np.cumsum(ids.lengths)])
        sums = self._sums(ids.flat, starts) + self.bias
        if self.tanh:
            sums = np.tanh(sums)
        norms = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        units: Float32[np.ndarray, "title dim"] = sums / np.maximum(norms, 1e-12)
        return units.astype(np.float32)

    def _sums(
        self, ids: Int[np.ndarray, " unit"], starts: Int[np.ndarray, " title+1"]
    ) -> Float64[np.ndarray, "title dim"]:
        is_half, sums = self.rows.dtype == np.uint8, np.zeros((len(starts) - 1, len(self.bias)))
        if kernels := kernels_at_hand():
            add = kernels.add_half_rows if is_half else kernels.add_rows
            add(ids, starts, self.rows, self.scales, sums)
        else:
            half = sums.shape[1] // 2
            for title, (start, end) in enumerate(pairwise(starts)):
                own = ids[start:end]
                rows, scales = self.rows[own], self.scales[own].astype(np.float64)
                if is_half:
                    sums[title, :half] = scales @ (rows % 2**HALF_BYTE)
                    sums[title, half:] = scales @ (rows >> HALF_BYTE)
                else:
                    sums[title] = scales @ rows
        if is_half:
            scales = np.add.reduceat(self.scales[ids].astype(np.float64), starts[:-1])
            sums -= EIGHT * scales[:, None]
        return sums
