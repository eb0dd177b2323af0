"""From similarities of titles to scores of occupations: the best alias, or a soft maximum of all.

A title can belong to several occupations, so membership is a list of (title, occupation) pairs.
`best` is max over the aliases; `soft` is t·log Σ w·exp(s/t) − ½·t·log Σ w over the aliases, which
lets several close ones outvote a lone one while a large occupation does not win by its size alone.
An alias weighs w = 1, or what its language does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from models.search.coded import Coded

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, Int, Int64

IN_CACHE = 1 << 18
"""Similarities of aliases that are made scores at once."""


@dataclass(frozen=True)
class Memberships:
    """Distinct (title, occupation) pairs, sorted by occupation, then title.

    Attributes:
        titles: index of each pair's title.
        starts: where each occupation's pairs begin in `titles`.
        sizes: how many aliases each occupation has, at least one.
        languages: of each pair, if known.
    """

    titles: Int64[np.ndarray, " membership"]
    starts: Int64[np.ndarray, " occupation"]
    sizes: Int64[np.ndarray, " occupation"]
    languages: Coded | None = None

    @classmethod
    def from_pairs(
        cls,
        title_index: Int[np.ndarray, " pair"],
        occupation_index: Int[np.ndarray, " pair"],
        occupations: int,
        languages: Coded | None = None,
    ) -> Memberships:
        """Sort the pairs and drop repeated ones; of their `languages` the first stays.

        Raises:
            ValueError: an occupation of 0 … `occupations` − 1 has no title, or an index is outside.
        """
        lowest = min(title_index.min(initial=0), occupation_index.min(initial=0))
        if lowest < 0 or occupation_index.max(initial=-1) >= occupations:
            raise ValueError(f"an index is negative or no occupation below {occupations}")
        count = title_index.max(initial=0) + np.int64(1)
        pairs = occupation_index * count + title_index
        order = np.argsort(pairs, kind="stable")
        order = order[np.diff(pairs[order], prepend=-1) > 0]
        owners, titles = np.divmod(pairs[order], count)
        sizes = np.bincount(owners, minlength=occupations)
        if not sizes.all():
            empty = np.flatnonzero(sizes == 0)
            raise ValueError(
                f"{len(empty)} of {occupations} occupations have no title, the first is "
                f"{empty[0]}; give each one at least one title of the index"
            )
        if languages is not None:
            languages = Coded(languages.names, languages.codes[order])
        return cls(titles, np.cumsum(sizes) - sizes, sizes, languages)


@dataclass(frozen=True)
class ScoreRule:
    """How an occupation scores by its aliases: `best_scores`, or `soft_scores` at a temperature.

    `language_weights`: weights of aliases in some languages, in a soft score; others weigh 1.
    """

    kind: Literal["best", "soft"]
    temperature: float
    language_weights: Mapping[str, float] = field(default_factory=dict)

    def __call__(
        self, similarities: Float[np.ndarray, "query title"], memberships: Memberships
    ) -> Float[np.ndarray, "query occupation"]:
        """Score every occupation for every query."""
        if self.kind == "best":
            return best_scores(similarities, memberships)
        weights = self.weights(memberships)
        return soft_scores(similarities, memberships, self.temperature, weights)

    def weights(self, memberships: Memberships) -> Float32[np.ndarray, " membership"] | None:
        """Return the weight of each pair; None if all weigh 1."""
        languages = memberships.languages
        if languages is None or not self.language_weights:
            return None
        by_code = [self.language_weights.get(name, 1.0) for name in languages.names]
        weights: Float32[np.ndarray, " membership"] = np.array(by_code, np.float32)[languages.codes]
        return weights


def best_scores(
    similarities: Float[np.ndarray, "query title"], memberships: Memberships
) -> Float[np.ndarray, "query occupation"]:
    """Return each occupation's closest alias; same range and type as the similarities."""
    members = np.take(similarities, memberships.titles, axis=1)
    return _reduce(np.maximum, members, memberships.starts)


def soft_scores(
    similarities: Float[np.ndarray, "query title"],
    memberships: Memberships,
    temperature: float,
    weights: Float32[np.ndarray, " membership"] | None = None,
) -> Float[np.ndarray, "query occupation"]:
    """Return t·log Σ w·exp(s/t) − ½·t·log Σ w over the aliases of each occupation.

    Of n that weigh 1 it lies between best − ½·t·log n and best + ½·t·log n; with one alias, or as
    t → 0, it is the best one.
    """
    size_term = 0.5 * np.log(size_of(memberships, weights)).astype(similarities.dtype)
    scores = np.empty((len(similarities), len(memberships.starts)), similarities.dtype)
    queries = max(1, IN_CACHE // max(1, len(memberships.titles)))
    for start in range(0, len(similarities), queries):
        part = slice(start, start + queries)
        near = similarities[part].copy()  # in the cache, which is read out of order
        members = np.take(near, memberships.titles, axis=1, mode="clip")
        best = _reduce(np.maximum, members, memberships.starts)
        exp_below(np.repeat(best, memberships.sizes, axis=1), members, temperature)
        if weights is not None:
            members *= weights
        total = _reduce(np.add, members, memberships.starts)
        scores[part] = best + temperature * (np.log(total) - size_term)
    return scores


def size_of(
    memberships: Memberships, weights: Float32[np.ndarray, " membership"] | None
) -> Float[np.ndarray, " occupation"]:
    """Return the sum of the weights of each occupation's aliases."""
    if weights is None or not len(memberships.starts):
        return memberships.sizes.astype(np.float64)
    sums: Float[np.ndarray, " occupation"] = np.add.reduceat(
        weights.astype(np.float64), memberships.starts
    )
    return sums


def exp_below(
    best: Float[np.ndarray, "*#shape"], values: Float[np.ndarray, "*shape"], temperature: float
) -> Float[np.ndarray, "*shape"]:
    """Overwrite `values` x by exp((x − best)/t), which cannot overflow, and return them.

    Every soft score sums these powers and adds t·log of the sum to the best.
    """
    values -= best
    values /= temperature
    np.exp(values, out=values)
    return values


def best_titles(
    similarities: Float[np.ndarray, "query title"],
    memberships: Memberships,
    query_index: Int[np.ndarray, " answer"],
    occupation_index: Int[np.ndarray, " answer"],
) -> Int64[np.ndarray, " answer"]:
    """The closest title of each queried (query, occupation); of equal ones the lowest index."""
    sizes = memberships.sizes[occupation_index]
    starts = np.cumsum(sizes) - sizes
    member = np.arange(sizes.sum()) + np.repeat(
        memberships.starts[occupation_index] - starts, sizes
    )
    titles: Int64[np.ndarray, " member"] = memberships.titles[member]
    if not len(titles):
        return titles
    values = similarities[np.repeat(query_index, sizes), titles]
    is_best = values == np.repeat(np.maximum.reduceat(values, starts), sizes)
    lowest = np.where(is_best, titles, similarities.shape[1])
    first: Int64[np.ndarray, " answer"] = np.minimum.reduceat(lowest, starts)
    return first


def _reduce(
    reduction: np.ufunc,
    members: Float[np.ndarray, "query membership"],
    starts: Int64[np.ndarray, " occupation"],
) -> Float[np.ndarray, "query occupation"]:
    if not len(starts):
        return members  # no occupation, so no membership: reduceat would refuse
    reduced: Float[np.ndarray, "query occupation"] = reduction.reduceat(members, starts, axis=1)
    return reduced
