"""A network that adds up a row of one table for each unit of a title, without ONNX.

Rows are read as they are stored (`models/network/quantization.py`): whole numbers in eight or four
bits with a scale each, or floats. Their sums are in double precision, where scales times small
whole numbers add up without rounding: so a title gets the same bits whatever is embedded with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.loops.characters import characters_of, classes_for
from models.normalizer.loops.title_lot import TitleLot
from models.normalizer.text_kernels import HashTable, text_kernels, text_kernels_at_hand
from models.text.featurizer import Featurizer
from models.text.texts import Texts

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int, Shaped

HALF_BYTE, LOWER_HALF, EIGHT = 4, 15, 8
"""Bits of a number, the lower ones of a byte, and what is added to it."""
SUMMED_AT_ONCE = 128
"""Titles whose sums stay in the processor's cache; memory for more is asked for each time."""


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
        ids, starts = self._units(titles)
        units = np.empty((len(titles), len(self.bias)), np.float32)
        for start in range(0, len(titles), SUMMED_AT_ONCE):
            part = slice(start, start + SUMMED_AT_ONCE)
            sums = self._sums(ids, starts[start : part.stop + 1]) + self.bias
            if self.tanh:
                sums = np.tanh(sums)
            norms = np.sqrt((sums**2).sum(axis=1, keepdims=True))
            np.divide(sums, np.maximum(norms, 1e-12), out=units[part], casting="same_kind")
        return units

    def _units(
        self, titles: Sequence[str]
    ) -> tuple[Int[np.ndarray, " unit"], Int[np.ndarray, " title+1"]]:
        """Return the ids of the units of titles, and where those of each title begin."""
        units = self.featurizer.vocabularies[0].units
        kernels = text_kernels_at_hand()
        if not kernels or units.unit not in ("ngram", "subword") or units.buckets:
            (ids,) = self.featurizer(titles).streams
            return ids.flat, np.concatenate([[0], np.cumsum(ids.lengths)])
        characters, by_word = TitleLot.of(titles).characters, units.unit == "subword"
        most = (len(units.orders) + 1) * (2 * len(characters.points) + 3 * len(titles))
        found = np.empty(most, np.int64), np.empty(len(titles) + 1, np.int64)
        orders = np.isin(np.arange(max(units.orders) + 1), units.orders)
        count = kernels.find_units(
            characters,
            classes_for.known,
            orders,
            units.max_length,
            by_word,
            self._known.arrays,
            found,
        )
        return found[0][:count], found[1]

    @cached_property
    def _known(self) -> HashTable:
        """Hashes of the vocabulary."""
        text, ends = Texts.of(self.featurizer.vocabularies[0].known).joined()
        hashes = np.empty(len(ends) - 1, np.uint64)
        text_kernels().hash_cleaned((characters_of([text]).points, ends), hashes)
        return HashTable.of(hashes)

    def _sums(
        self, ids: Int[np.ndarray, " unit"], starts: Int[np.ndarray, " title+1"]
    ) -> Float64[np.ndarray, "title dim"]:
        is_half, sums = self.rows.dtype == np.uint8, np.zeros((len(starts) - 1, len(self.bias)))
        if kernels := text_kernels_at_hand():
            add = kernels.add_half_rows if is_half else kernels.add_rows
            add(ids, starts, self.rows, self.scales, sums)
        else:
            half = sums.shape[1] // 2
            for title, (start, end) in enumerate(pairwise(starts)):
                own = ids[start:end]
                rows, scales = self.rows[own], self.scales[own].astype(np.float64)
                if is_half:
                    sums[title, :half] = scales @ (rows & LOWER_HALF)
                    sums[title, half:] = scales @ (rows >> HALF_BYTE)
                else:
                    sums[title] = scales @ rows
        if is_half:
            own = self.scales[ids[starts[0] : starts[-1]]].astype(np.float64)
            sums -= EIGHT * np.add.reduceat(own, starts[:-1] - starts[0])[:, None]
        return sums
