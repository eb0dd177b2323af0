"""Cleaned titles looked up in an index: the one way from similarities to ranked occupations.

Evaluation, gate, simulated feedback and the registered model search with this module; they differ
in where the similarities come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.search.exemplars import Exemplars
from models.search.index import AliasIndex
from models.search.occupation_scores import ScoreRule, best_titles

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, Int

Similarities = Callable[[Sequence[str]], "Float32[np.ndarray, 'query title']"]
"""A system as one function: cleaned titles in, similarities to the titles of an index out, and then
to those of the exemplars, where a search has any."""
TITLES_AT_ONCE = 256
"""Titles looked up at once: their similarities to 100,000 titles take 100 MB."""


class Hits(NamedTuple):
    """The results of a block of titles.

    Attributes:
        scores: of all occupations.
        occupations: codes of the best, best first; equal scores in the order of their ids.
        titles: the closest title of each of these, a place in the index.
        closest: similarity to the closest title or exemplar of all.
    """

    scores: Float[np.ndarray, "query occupation"]
    occupations: Int[np.ndarray, "query k"]
    titles: Int[np.ndarray, "query k"]
    closest: Float[np.ndarray, " query"]


@dataclass(frozen=True)
class Search:
    """An index, a system that knows how similar titles are to it, and how occupations score.

    Attributes:
        index: of aliases.
        similarities: to the titles of `index`, and to those of `exemplars` after them.
        rule: from aliases to occupations.
        exemplars: inputs whose occupation is known or predicted, if any.
    """

    index: AliasIndex
    similarities: Similarities
    rule: ScoreRule
    exemplars: Exemplars | None = None

    def __call__(self, titles: Sequence[str], depth: int) -> Hits:
        """Look up one block of cleaned titles; `depth` occupations each, if there are so many."""
        known, memberships = len(self.index.titles), self.index.memberships
        everything = self.similarities(titles)
        similarities = everything[:, :known]
        scores = self.rule(similarities, memberships)
        if self.exemplars is not None:
            scores = self.exemplars(scores, everything[:, known:])
        best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        row = np.repeat(np.arange(len(best)), best.shape[1])
        closest = best_titles(similarities, memberships, row, best.reshape(-1))
        return Hits(scores, best, closest.reshape(best.shape), everything.max(axis=1))

    def blocks(self, titles: Sequence[str], depth: int) -> Iterator[tuple[slice, Hits]]:
        """Yield block after block of any number of titles, with the place of each."""
        for start in range(0, len(titles), TITLES_AT_ONCE):
            place = slice(start, min(start + TITLES_AT_ONCE, len(titles)))
            yield place, self(titles[place], depth)

    def hits(self, titles: Sequence[str], depth: int) -> Hits:
        """Look up any number of titles, and keep the scores of all."""
        blocks = [hits for _, hits in self.blocks(titles, depth)] or [self(titles, depth)]
        return Hits(*map(np.concatenate, zip(*blocks, strict=True)))


def nearest_titles(
    titles: Sequence[str],
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]],
    others: Float32[np.ndarray, "other dim"],
    k: int,
) -> Iterator[tuple[int, int, int, float]]:
    """Yield row, rank (from 1), place in `others` and cosine of each title's `k` closest others.

    Equal ones stand in their own order; all are given if there are fewer.

    Raises:
        ValueError: `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"k = {k}; it must be 1 or more")
    for start in range(0, len(titles), TITLES_AT_ONCE):
        similar = embed(titles[start : start + TITLES_AT_ONCE]) @ others.T
        best = np.argsort(-similar, axis=1, kind="stable")[:, :k]
        for row, places in enumerate(best.tolist()):
            for rank, place in enumerate(places, start=1):
                yield start + row, rank, place, float(similar[row, place])
