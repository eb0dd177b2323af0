"""Prototypes: one vector for each group of links of an occupation that lie close together.

A *link* is an alias or exemplar of an occupation with its weight, so that an occupation scores
s = t·log Σ w·exp(x/t) over the similarities x of its links: the soft score with exemplars
(`models/serving/scores.py`) in one sum. A prototype is the weighted mean of some links, with the
sum W of their weights and their variance v, for which the first terms of the cumulant expansion
give

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

from models.serving.index import STEPS, AliasIndex
from models.serving.kernels import add_masses, choose_best
from models.serving.scores import Exemplars, ScoreRule, size_of

if TYPE_CHECKING:
    from jaxtyping import Float32, Int8, Int32, Int64, UInt8


@dataclass(frozen=True)
class WeightedVectors:
    """All links; those of one occupation stand together, its aliases first.

    Attributes:
        positions: in the table of embeddings.
        weights: above 0; an alias of weight w has w·exp(bias/t)/√Σw, the sum over its occupation's.
        owners: occupation of each.
        starts: where those of each occupation begin; one more at the end.
        aliases: how many of an occupation's are aliases.
        temperature: t.
    """

    positions: Int64[np.ndarray, " link"]
    weights: Float32[np.ndarray, " link"]
    owners: Int64[np.ndarray, " link"]
    starts: Int64[np.ndarray, " occupation+1"]
    aliases: Int64[np.ndarray, " occupation"]
    temperature: float

    @classmethod
    def of(cls, index: AliasIndex, rule: ScoreRule, exemplars: Exemplars) -> Self:
        """List the links of an index, whose rule is `soft`."""
        members, t = index.memberships, rule.temperature
        aliases = rule.weights(members)
        own = np.exp(exemplars.bias / t) / np.sqrt(size_of(members, aliases))
        own = own.repeat(members.sizes) * (1 if aliases is None else aliases)
        linked = np.diff([*exemplars.starts, len(exemplars.title_numbers)])
        numbers = np.arange(len(members.sizes))
        owners = np.repeat(
            [*numbers, *exemplars.occupations], [*members.sizes, *linked.astype(np.int64)]
        )
        positions = np.concatenate([members.titles, exemplars.title_numbers + len(index.titles)])
        weights = np.concatenate([own, exemplars.weights])
        order = owners.argsort(kind="stable")
        return cls(
            positions[order],
            weights[order].astype(np.float32),
            owners[order],
            owners[order].searchsorted([*numbers, len(numbers)]),
            members.sizes,
            t,
        )


AXIS_STEPS = 1 << 10  # the norm of a whole axis: a product of one with a whole title is below 2²⁴
DIGIT = 128  # added to the integers of a title, so that they fit a byte
AT_ONCE = 32  # titles whose products with the prototypes stay in the processor's cache

Product = Callable[["UInt8[np.ndarray, 'title axis']"], "Int32[np.ndarray, 'title prototype']"]
"""Of titles in bytes with the numbers of prototypes; it takes `DIGIT` off the bytes."""


@dataclass(frozen=True)
class Prototypes:
    """Prototypes of all occupations.

    Occupations with equally many prototypes stand together: first the first prototype of each, then
    the second of each, and so on.

    Attributes:
        axes: principal axes of the embeddings, the first ones, as integers.
        numbers: integers of each, on these axes.
        factors: times the numbers, its vector divided by t.
        extras: log W + v/(2·d·t²) of each.
        occupations: in the order of their first prototypes, those with few of them first.
        counts: how many prototypes an occupation has, ascending, each once.
        ends: where the prototypes of occupations with so many end.
        temperature: t.
        product: of titles with the numbers.
    """

    axes: Float32[np.ndarray, "dim axis"]
    numbers: Int8[np.ndarray, "axis prototype"]
    factors: Float32[np.ndarray, " prototype"]
    extras: Float32[np.ndarray, " prototype"]
    occupations: Int64[np.ndarray, " occupation"]
    counts: Int64[np.ndarray, " count"]
    ends: Int64[np.ndarray, " count"]
    temperature: float
    product: Product

    def __call__(
        self,
        titles: Float32[np.ndarray, "title dim"],
        most: int,
        memory: Float32[np.ndarray, "more occupation"],
    ) -> tuple[Float32[np.ndarray, "title occupation"], Int64[np.ndarray, "title best"]]:
        """Return about the score of every occupation for quantized titles, and `most` best ones.

        The scores lie in `memory`.
        """
        numbers = titles @ self.axes  # whole, and exact in any order
        steps = np.abs(numbers).max(axis=1, keepdims=True) / np.float32(DIGIT - 1)
        digits = np.round(numbers / np.where(steps > 0, steps, 1)) + DIGIT
        steps /= STEPS * AXIS_STEPS
        rows = digits.astype(np.uint8)
        scores, best = memory[: len(titles)], np.empty((len(titles), most), np.int64)
        arrays = (self.factors, self.extras, self.counts, self.ends)
        masses = np.empty((AT_ONCE, len(self.occupations)), np.float32)
        for start in range(0, len(titles), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            sums = self.product(rows[part])
            made = masses[: len(sums)]  # of each of `occupations` the sum of its powers
            add_masses(sums, steps[part, 0], *arrays, made)
            np.log(made, out=made)
            made *= np.float32(self.temperature)
            np.take(made, self._order, axis=1, out=scores[part], mode="clip")
            choose_best(scores[part], best[part])
        return scores, best

    @cached_property
    def _order(self) -> Int64[np.ndarray, " occupation"]:
        """The position of each occupation in `occupations`."""
        return self.occupations.argsort()
