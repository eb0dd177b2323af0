"""From similarities of titles to scores of occupations: the best alias, or a soft maximum of all.

`best` is max over the aliases; `soft` is t·log Σ w·exp(s/t) − ½·t·log Σ w over the aliases, which
lets several close ones outvote a lone one while a large occupation does not win by its size alone.
An alias weighs w = 1, or what its language does. An occupation is as likely as its aliases are
close, times its chance among inputs. With the score s of the aliases, a temperature t and exemplars
of similarity x that weigh w,

    s' = t·log( exp((s + bias)/t) + Σ w·exp(x/t) ),

so exemplars work at once, without training, and an occupation without any keeps its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from models.serving.index import AliasIndex, Memberships

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, Int, Int64

IN_CACHE = 1 << 18  # similarities of aliases that are made scores at once
REVIEW, LABEL, MODEL = "review", "label", "model"
"""Who names the occupation: people in a review, the label that came with the data, or a network."""


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
    queries: Int[np.ndarray, " answer"],
    occupations: Int[np.ndarray, " answer"],
) -> Int64[np.ndarray, " answer"]:
    """The closest title of each queried (query, occupation); of equal ones the first position."""
    sizes = memberships.sizes[occupations]
    starts = np.cumsum(sizes) - sizes
    member = np.arange(sizes.sum()) + np.repeat(memberships.starts[occupations] - starts, sizes)
    titles: Int64[np.ndarray, " member"] = memberships.titles[member]
    if not len(titles):
        return titles
    values = similarities[np.repeat(queries, sizes), titles]
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


@dataclass(frozen=True)
class Exemplars:
    """The bias and the exemplars of the occupations of an index.

    Attributes:
        titles: distinct cleaned exemplars, sorted; their similarities follow those of the index.
        bias: of each occupation's score.
        title_numbers: position in `titles` of each (exemplar, occupation), sorted by occupation.
        occupations: those that have exemplars, ascending.
        starts: where the exemplars of each of these begin.
        weights: of each (exemplar, occupation); an alias weighs 1.
        temperature: t, above 0.
    """

    titles: list[str]
    bias: Float32[np.ndarray, " occupation"]
    title_numbers: Int64[np.ndarray, " link"]
    occupations: Int64[np.ndarray, " named"]
    starts: Int64[np.ndarray, " named"]
    weights: Float32[np.ndarray, " link"]
    temperature: float

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        bias: Mapping[str, float],
        exemplars: Mapping[str, Sequence[Any]],
        temperature: float,
    ) -> Exemplars:
        """Collect the exemplars of the occupations of an index; those of others are left out.

        An occupation that `bias` lacks has 0. `exemplars` has the columns `title` (cleaned),
        `occupation_id` and `weight` (above 0); a title of several occupations has several rows.
        """
        code = {name: number for number, name in enumerate(index.occupations)}
        columns = (exemplars[name] for name in ("title", "occupation_id", "weight"))
        rows = sorted(
            (code[name], title, weight)
            for title, name, weight in zip(*columns, strict=True)
            if name in code
        )
        distinct = sorted(set(exemplars["title"]))
        number = {title: at for at, title in enumerate(distinct)}
        named, starts = np.unique(np.array([row[0] for row in rows], np.int64), return_index=True)
        return cls(
            distinct,
            np.array([bias.get(name, 0.0) for name in index.occupations], np.float32),
            np.array([number[row[1]] for row in rows], np.int64),
            named,
            starts.astype(np.int64),
            np.array([row[2] for row in rows], np.float32),
            temperature,
        )

    def __call__(
        self,
        scores: Float[np.ndarray, "query occupation"],
        closeness: Float32[np.ndarray, "query exemplar"],
    ) -> Float[np.ndarray, "query occupation"]:
        """Return s' of every occupation from its aliases' score and all exemplars' similarities."""
        biased: Float[np.ndarray, "query occupation"] = scores + self.bias
        if not len(self.title_numbers):
            return biased
        t = self.temperature
        nearest = closeness.max(axis=1, keepdims=True)
        votes = exp_below(nearest, closeness.copy("K"), t)[:, self.title_numbers] * self.weights
        total = np.add.reduceat(votes, self.starts, axis=1)
        with np.errstate(divide="ignore"):  # an exemplar too far away to count adds exp(-inf)
            mass = t * np.log(total) + nearest
        biased[:, self.occupations] = t * np.logaddexp(biased[:, self.occupations] / t, mass / t)
        return biased
