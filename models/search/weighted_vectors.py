"""Aliases and exemplars of occupations as one list of vectors, and prototypes of them.

A *link* is an alias or exemplar of an occupation with its weight, so that an occupation scores
s = t·log Σ w·exp(x/t) over the similarities x of its links: the soft score with exemplars
(`models/search/exemplars.py`) in one sum. A *prototype* gathers links of an occupation that lie
close together: their weighted mean, with the sum W of their weights and their variance v, for which
the first terms of the cumulant expansion give

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
from models.search.occupation_scores import size_of
from models.search.search import Search
from models.search.stored_vectors import STEPS

if TYPE_CHECKING:
    from jaxtyping import Float32, Int8, Int32, Int64, UInt8

PROTOTYPES = 5_000
"""About so many, by gathering equally many links on average in each; fewer links stay alone."""
ROUNDS = 10
"""Of moving each link to the closest prototype of its occupation."""
LONE = 4_000
"""Links that are far from their prototype and weigh much: each is one of its own besides."""
AXES = 128
"""Principal axes of the embeddings on which prototypes are compared."""
AXIS_STEPS = 1 << 10
"""The norm of a whole axis: a product of one with a whole title is below 2²⁴."""
LARGEST, DIGIT = 63, 128
"""Of the whole numbers of a prototype, and what is added to those of a title: so the sum of two
products fits into 16 bits on every processor."""
AT_ONCE = 16
"""Titles whose products with the prototypes stay in the processor's cache."""
PAIRS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class WeightedVectors:
    """Those of one occupation stand together, its aliases first.

    Attributes:
        places: in the table of embeddings.
        weights: above 0; an alias of weight w has w·exp(bias/t)/√Σw, the sum over its occupation's.
        owners: occupation of each.
        starts: where those of each occupation begin; one more at the end.
        aliases: how many of an occupation's are aliases.
        temperature: t.
    """

    places: Int64[np.ndarray, " link"]
    weights: Float32[np.ndarray, " link"]
    owners: Int64[np.ndarray, " link"]
    starts: Int64[np.ndarray, " occupation+1"]
    aliases: Int64[np.ndarray, " occupation"]
    temperature: float

    @classmethod
    def of(cls, search: Search) -> Self:
        """List those of a search with exemplars, whose rule is `soft`."""
        exemplars, members, t = search.exemplars, search.index.memberships, search.rule.temperature
        assert exemplars is not None and search.rule.kind == "soft"
        aliases = search.rule.weights(members)
        own = np.exp(exemplars.bias / t) / np.sqrt(size_of(members, aliases))
        own = np.repeat(own, members.sizes) * (1 if aliases is None else aliases)
        linked = np.diff([*exemplars.starts, len(exemplars.title_numbers)])
        numbers = np.arange(len(members.sizes))
        owners = np.repeat(
            [*numbers, *exemplars.occupations], [*members.sizes, *linked.astype(np.int64)]
        )
        places = np.concatenate(
            [members.titles, exemplars.title_numbers + len(search.index.titles)]
        )
        weights = np.concatenate([own, exemplars.weights])
        order = np.argsort(owners, kind="stable")
        return cls(
            places[order],
            weights[order].astype(np.float32),
            owners[order],
            np.searchsorted(owners[order], [*numbers, len(numbers)]),
            members.sizes,
            t,
        )


Product = Callable[["UInt8[np.ndarray, 'title axis']"], "Int32[np.ndarray, 'title prototype']"]
"""Of titles in bytes, `DIGIT` too large, with the numbers of prototypes."""


@dataclass(frozen=True)
class Prototypes:
    """Those of occupations with equally many stand together, the first of each first.

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
        """Gather links: begin with neighbours in the list, then move each to its closest."""
        moments, mean = embeddings.T @ embeddings / len(embeddings), embeddings.mean(axis=0)
        axes = np.round(AXIS_STEPS * np.linalg.eigh(moments)[1][:, ::-1][:, :AXES])
        axes = np.ascontiguousarray(axes, np.float32)
        spreads = np.linalg.eigvalsh(moments - np.outer(mean, mean))
        directions = spreads.sum() ** 2 / (spreads**2).sum()
        projected = (embeddings @ axes)[links.places]
        sizes = np.diff(links.starts)
        counts = -(-sizes // max(1, round(len(links.owners) / PROTOTYPES)))
        firsts = np.cumsum(counts) - counts
        own, rank = links.owners, np.arange(len(links.owners)) - links.starts[links.owners]
        group = firsts[own] + rank * counts[own] // sizes[own]
        moving = np.flatnonzero(counts[own] > 1)  # links of occupations where some change groups
        for _ in range(ROUNDS):
            near, names, before = projected[moving], own[moving], group[moving]
            means = _means(near, before, counts.sum())
            group[moving] = _nearest(near, means, firsts[names], counts[names])
            moving = moving[np.isin(names, names[group[moving] != before])]
        lone = _far(projected, group, links.weights)[:LONE]
        group[lone] = counts.sum() + np.arange(len(lone))
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
        self, titles: Float32[np.ndarray, "title dim"], most: int, kernels: Kernels | None = None
    ) -> tuple[Float32[np.ndarray, "title occupation"], Int64[np.ndarray, "title best"]]:
        """Return about the score of every occupation for whole titles, and `most` best ones."""
        numbers = titles @ self.axes  # whole, and exact in any order
        steps = np.abs(numbers).max(axis=1, keepdims=True) / np.float32(DIGIT - 1)
        digits = np.round(numbers / np.where(steps > 0, steps, 1)) + DIGIT
        steps /= STEPS * AXIS_STEPS
        multiply, rows = self.product or self._multiply, digits.astype(np.uint8)
        scores = np.empty((len(titles), len(self.occupations)), np.float32)
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


def _means(
    rows: Float32[np.ndarray, "link axis"], group: Int64[np.ndarray, " link"], groups: int
) -> Float32[np.ndarray, "group axis"]:
    """Return the direction of each group's mean; zeros of one without links."""
    order = np.argsort(group, kind="stable")
    names, begin = np.unique(group[order], return_index=True)
    means = np.zeros((groups, rows.shape[1]), np.float32)
    means[names] = np.add.reduceat(rows[order], begin, axis=0)
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    directions: Float32[np.ndarray, "group axis"] = means / np.maximum(norms, 1e-9)
    return directions


def _far(
    rows: Float32[np.ndarray, "link axis"],
    group: Int64[np.ndarray, " link"],
    weights: Float32[np.ndarray, " link"],
) -> Int64[np.ndarray, " far"]:
    """Return the links that have company in their group, the farthest first, each by its weight.

    Such a link is what a mean hides: the alias "designer" of an art director.
    """
    means = _means(rows, group, group.max(initial=-1) + 1)
    norms = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    far = weights * (1 - np.einsum("la,la->l", rows, means[group]) / norms)
    far[np.bincount(group)[group] == 1] = 0
    order = np.argsort(-far, kind="stable")
    farthest: Int64[np.ndarray, " far"] = order[far[order] > 0]
    return farthest


def _nearest(
    rows: Float32[np.ndarray, "link axis"],
    means: Float32[np.ndarray, "group axis"],
    firsts: Int64[np.ndarray, " link"],
    counts: Int64[np.ndarray, " link"],
) -> Int64[np.ndarray, " link"]:
    """Return of each link the closest of its groups, `counts` of them from `firsts` on."""
    starts = np.cumsum(counts) - counts
    link = np.repeat(np.arange(len(rows)), counts)
    group = firsts[link] + np.arange(len(link)) - starts[link]
    near = np.empty(len(link), np.float32)
    for start in range(0, len(link), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        near[part] = np.einsum("pa,pa->p", rows[link[part]], means[group[part]])
    best = np.flatnonzero(near == np.maximum.reduceat(near, starts)[link])
    first = np.flatnonzero(np.diff(link[best], prepend=-1))
    nearest: Int64[np.ndarray, " link"] = group[best[first]]
    return nearest
