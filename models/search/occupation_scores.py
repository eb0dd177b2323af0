"""From similarities of titles to scores of occupations: the best alias, or a soft maximum of all.

A title can belong to several occupations, so membership is a list of (title, occupation) pairs.
`best` is max over the aliases; `soft` is t·log Σ exp(s/t) − ½·t·log n over n aliases, which lets
several close aliases outvote a lone one while a large occupation does not win by its size alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int, Int64


@dataclass(frozen=True)
class Memberships:
    """Distinct (title, occupation) pairs, sorted by occupation, then title.

    Attributes:
        titles: index of each pair's title.
        starts: where each occupation's pairs begin in `titles`.
        sizes: how many aliases each occupation has, at least one.
    """

    titles: Int64[np.ndarray, " membership"]
    starts: Int64[np.ndarray, " occupation"]
    sizes: Int64[np.ndarray, " occupation"]

    @classmethod
    def from_pairs(
        cls,
        title_index: Int[np.ndarray, " pair"],
        occupation_index: Int[np.ndarray, " pair"],
        occupations: int,
    ) -> Memberships:
        """Sort the pairs and drop repeated ones.

        Raises:
            ValueError: an occupation of 0 … `occupations` − 1 has no title, or an index is outside.
        """
        lowest = min(title_index.min(initial=0), occupation_index.min(initial=0))
        if lowest < 0 or occupation_index.max(initial=-1) >= occupations:
            raise ValueError(f"an index is negative or no occupation below {occupations}")
        count = title_index.max(initial=0) + np.int64(1)
        pairs = np.sort(occupation_index * count + title_index)  # `unique` takes ten times as long
        owners, titles = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], count)
        sizes = np.bincount(owners, minlength=occupations)
        if not sizes.all():
            empty = np.flatnonzero(sizes == 0)
            raise ValueError(
                f"{len(empty)} of {occupations} occupations have no title, the first is "
                f"{empty[0]}; give each one at least one title of the index"
            )
        return cls(titles, np.cumsum(sizes) - sizes, sizes)


@dataclass(frozen=True)
class ScoreRule:
    """How an occupation scores by its aliases: `best_scores`, or `soft_scores` at a temperature."""

    kind: Literal["best", "soft"]
    temperature: float

    def __call__(
        self, similarities: Float[np.ndarray, "query title"], memberships: Memberships
    ) -> Float[np.ndarray, "query occupation"]:
        """Score every occupation for every query."""
        if self.kind == "best":
            return best_scores(similarities, memberships)
        return soft_scores(similarities, memberships, self.temperature)


def best_scores(
    similarities: Float[np.ndarray, "query title"], memberships: Memberships
) -> Float[np.ndarray, "query occupation"]:
    """Return each occupation's closest alias; same range and type as the similarities."""
    members = np.take(similarities, memberships.titles, axis=1)
    return _reduce(np.maximum, members, memberships.starts)


def soft_scores(
    similarities: Float[np.ndarray, "query title"], memberships: Memberships, temperature: float
) -> Float[np.ndarray, "query occupation"]:
    """Return t·log Σ exp(s/t) − ½·t·log n over the n aliases of each occupation.

    It lies between best − ½·t·log n and best + ½·t·log n; with one alias, or as t → 0, it is the
    best one.
    """
    members = np.take(similarities, memberships.titles, axis=1)
    best = _reduce(np.maximum, members, memberships.starts)
    exp_below(np.repeat(best, memberships.sizes, axis=1), members, temperature)
    total = _reduce(np.add, members, memberships.starts)
    size_term = 0.5 * np.log(memberships.sizes).astype(total.dtype)
    scores: Float[np.ndarray, "query occupation"] = best + temperature * (np.log(total) - size_term)
    return scores


def exp_below(
    best: Float[np.ndarray, "#row #column"],
    values: Float[np.ndarray, "row column"],
    temperature: float,
) -> Float[np.ndarray, "row column"]:
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
