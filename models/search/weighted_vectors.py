"""Aliases and exemplars of occupations as one list of vectors, and groups of close ones.

A *link* is an alias or exemplar of an occupation with its weight, so that an occupation scores
s = t·log Σ w·exp(x/t) over the similarities x of its links: the soft score with exemplars
(`models/search/exemplars.py`) in one sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from models.search.occupation_scores import size_of
from models.search.search import Search

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

PROTOTYPES = 5_000
"""About so many groups, by gathering equally many links on average; fewer links stay alone."""
ROUNDS = 10
"""Of moving each link to the closest group of its occupation."""
LONE = 4_000
"""Links that are far from their group and weigh much: each is one of its own besides."""


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

    def groups(self, rows: Float32[np.ndarray, "link axis"]) -> Int64[np.ndarray, " link"]:
        """Gather links of an occupation that lie close together; groups count up by occupation.

        It begins with neighbours in the list, and then moves each link to the closest group.
        """
        own, sizes = self.owners, np.diff(self.starts)
        counts = -(-sizes // max(1, round(len(own) / PROTOTYPES)))
        firsts = np.concatenate([[0], np.cumsum(counts)])
        rank = np.arange(len(own)) - self.starts[own]
        group: Int64[np.ndarray, " link"] = firsts[own] + rank * counts[own] // sizes[own]
        for occupation in np.flatnonzero(counts > 1).tolist():
            part, first = slice(*self.starts[occupation : occupation + 2]), firsts[occupation]
            near, nearest = rows[part], group[part] - first
            for _ in range(ROUNDS):
                before = nearest
                nearest = (near @ _means(near, before, counts[occupation]).T).argmax(axis=1)
                if (nearest == before).all():
                    break
            group[part] = first + nearest
        lone = _far(rows, group, self.weights)[:LONE]
        group[lone] = firsts[-1] + np.arange(len(lone))
        return group


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
