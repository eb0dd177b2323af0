"""Prototypes: one vector for each group of links of an occupation that lie close together.

A prototype is the weighted mean of some links (`models/search/weighted_vectors.py`), with the sum
W of their weights and their variance v, for which the first terms of the cumulant expansion give

    Σ w·exp(x/t) ≈ W·exp(x̄/t + v/(2·d·t²)),

where x̄ is the similarity to the mean and d in how many directions titles differ, all alike: the
participation ratio of their principal axes. The variance that a mean has beyond the axes on which
it is compared counts as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from models.search.kernels import RANKS, Kernels
from models.search.stored_vectors import STEPS
from models.search.weighted_vectors import WeightedVectors

if TYPE_CHECKING:
    from jaxtyping import Float32, Int8, Int32, Int64, UInt8

AXES = 128
"""Principal axes of the embeddings on which prototypes are compared."""
AXIS_STEPS = 1 << 10
"""The norm of a whole axis: a product of one with a whole title is below 2²⁴."""
LARGEST, DIGIT = 63, 128
"""Of the whole numbers of a prototype, and what is added to those of a title: so the sum of two
products fits into 16 bits on every processor."""
AT_ONCE = 16
"""Titles whose products with the prototypes stay in the processor's cache."""

Product = Callable[["UInt8[np.ndarray, 'title axis']"], "Int32[np.ndarray, 'title prototype']"]
"""Of titles in bytes, `DIGIT` too large, with the numbers of prototypes."""


@dataclass(frozen=True)
class Prototypes:
    """Prototypes of all occupations.

    Occupations with equally many prototypes stand together: first the first prototype of each, then
    the second of each, and so on.

    Attributes:
        axes: principal axes of the embeddings, the first ones, as whole numbers.
        numbers: whole ones of each, on these axes.
        factors: times the numbers, its vector divided by t.
        extras: log W + v/(2·d·t²) of each.
        occupations: in the order of their first prototypes, those with few of them first.
        counts: how many prototypes an occupation has, ascending, each once.
        ends: where the prototypes of occupations with so many end.
        temperature: t.
        product: of titles with the numbers, if something faster than numpy has it.
    """

    axes: Float32[np.ndarray, "dim axis"]
    numbers: Int8[np.ndarray, "axis prototype"]
    factors: Float32[np.ndarray, " prototype"]
    extras: Float32[np.ndarray, " prototype"]
    occupations: Int64[np.ndarray, " occupation"]
    counts: Int64[np.ndarray, " count"]
    ends: Int64[np.ndarray, " count"]
    temperature: float
    product: Product | None = None

    @classmethod
    def of(cls, links: WeightedVectors, embeddings: Float32[np.ndarray, "title dim"]) -> Self:
        """Make one of each group of links, from the embeddings that these name."""
        moments, mean = embeddings.T @ embeddings / len(embeddings), embeddings.mean(axis=0)
        axes = np.round(AXIS_STEPS * np.linalg.eigh(moments)[1][:, ::-1][:, :AXES])
        axes = np.ascontiguousarray(axes, np.float32)
        spreads = np.linalg.eigvalsh(moments - np.outer(mean, mean))
        directions = spreads.sum() ** 2 / (spreads**2).sum()
        group, own = links.groups((embeddings @ axes)[links.places]), links.owners
        used = np.bincount(own[np.unique(group, return_index=True)[1]])
        order = np.lexsort((group, own, used[own]))
        begin = np.flatnonzero(np.diff(group[order], prepend=-1))
        weights = np.add.reduceat(links.weights[order], begin)
        weighted = embeddings[links.places[order]] * links.weights[order, None]
        means = np.add.reduceat(weighted, begin, axis=0) / weights[:, None]
        kinds, alike = np.unique(used, return_counts=True)
        t, vectors = links.temperature, means @ (axes / AXIS_STEPS)
        spread = 1 - (vectors**2).sum(axis=1)
        extra = np.log(weights) + spread / (2 * directions * t**2)
        vectors /= t
        factors = np.abs(vectors).max(axis=1, keepdims=True) / LARGEST
        numbers = np.round(vectors / np.maximum(factors, 1e-9)).astype(np.int8)
        ends = np.cumsum(kinds * alike)
        of_alike = zip(kinds, np.split(np.arange(len(numbers)), ends[:-1]), strict=True)
        turned = np.concatenate(  # sums over an axis of whole rows take a fraction of the time
            [rows.reshape(-1, count).T.reshape(-1) for count, rows in of_alike]
        )
        return cls(
            axes,
            np.ascontiguousarray(numbers[turned].T),
            factors[turned, 0].astype(np.float32),
            extra[turned].astype(np.float32),
            np.argsort(used, kind="stable"),
            kinds,
            ends,
            t,
        )

    def __call__(
        self,
        titles: Float32[np.ndarray, "title dim"],
        most: int,
        kernels: Kernels | None = None,
        memory: Float32[np.ndarray, "more occupation"] | None = None,
    ) -> tuple[Float32[np.ndarray, "title occupation"], Int64[np.ndarray, "title best"]]:
        """Return about the score of every occupation for whole titles, and `most` best ones.

        `memory`: for the scores.
        """
        numbers = titles @ self.axes  # whole, and exact in any order
        steps = np.abs(numbers).max(axis=1, keepdims=True) / np.float32(DIGIT - 1)
        digits = np.round(numbers / np.where(steps > 0, steps, 1)) + DIGIT
        steps /= STEPS * AXIS_STEPS
        multiply, rows = self.product or self._multiply, digits.astype(np.uint8)
        shape = (len(titles), len(self.occupations))
        scores = np.empty(shape, np.float32) if memory is None else memory[: len(titles)]
        best = np.empty((len(titles), most), np.int64)
        arrays = (self.factors, self.extras, self.counts, self.ends)
        masses = np.empty((AT_ONCE, len(self.occupations)), np.float32)
        for start in range(0, len(titles), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            sums = multiply(rows[part])
            made = masses[: len(sums)]  # of each of `occupations` the sum of its powers
            if kernels:
                kernels.add_masses(sums, steps[part, 0], *arrays, made)
            else:
                powers = np.exp(sums.astype(np.float32) * steps[part] * self.factors + self.extras)
                made[:] = [np.bincount(self._owners, row) for row in powers]  # at most e^(1/t) each
            np.log(made, out=made)
            made *= np.float32(self.temperature)
            np.take(made, self._places, axis=1, out=scores[part], mode="clip")
            if kernels:
                kernels.choose_best(scores[part], best[part])
            else:
                best[part] = [best_of(row, most) for row in scores[part]]
        return scores, best

    def _multiply(self, digits: UInt8[np.ndarray, "title axis"]) -> Int32[np.ndarray, "title _"]:
        sums: Int32[np.ndarray, "title _"] = (
            (digits.astype(np.float32) - DIGIT) @ self._floats
        ).astype(np.int32)
        return sums

    @cached_property
    def _owners(self) -> Int64[np.ndarray, " prototype"]:
        """Where the occupation of each stands in `occupations`."""
        alike = np.diff(self.ends, prepend=0) // self.counts
        spans = zip(self.counts, np.cumsum(alike) - alike, np.cumsum(alike), strict=True)
        return np.concatenate(
            [np.tile(np.arange(begin, end), count) for count, begin, end in spans]
        )

    @cached_property
    def _places(self) -> Int64[np.ndarray, " occupation"]:
        """Where each occupation stands in `occupations`."""
        return np.argsort(self.occupations)

    @cached_property
    def _floats(self) -> Float32[np.ndarray, "axis prototype"]:
        return self.numbers.astype(np.float32)


def best_of(scores: Float32[np.ndarray, " occupation"], most: int) -> Int64[np.ndarray, " best"]:
    """Return the best of a title by `RANKS`, best first; of equal ones the first."""
    ranks = np.floor(scores * RANKS)
    names = np.flatnonzero(ranks >= np.partition(ranks, -most)[-most])
    best: Int64[np.ndarray, " best"] = names[np.argsort(-ranks[names], kind="stable")]
    return best[:most]
