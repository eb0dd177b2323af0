"""A search of many occupations in two stages: prototypes choose the few that are scored in full.

The occupations that score best by their prototypes, and those that have the title as an alias, are
scored over all their vectors (`models/search/weighted_vectors.py`). The others keep the
prototypes' score, which counts in the chances alone: no answer is taken from them. The study `bulk`
measures the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.search.occupation_scores import exp_below
from models.search.search import TITLES_AT_ONCE, Hits, Search
from models.search.tiled_matmul import TILE, columns_of
from models.search.weighted_vectors import Prototypes, WeightedVectors

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

CANDIDATES = 64
"""Occupations that are scored in full."""
FEW = 1000
"""A search of fewer occupations is faster as a whole."""
DEPTH = CANDIDATES // 4
"""Nor is one for more answers to a title."""
LOT = 4096
"""Titles whose candidates are scored together, occupation by occupation."""


class Scored(NamedTuple):
    """Candidates of titles, in no order: score, closest alias and similarity of closest link."""

    scores: Float32[np.ndarray, "query candidate"]
    titles: Int64[np.ndarray, "query candidate"]
    closest: Float32[np.ndarray, "query candidate"]


@dataclass(frozen=True)
class TwoStageSearch:
    """A search with less work.

    Attributes:
        search: softly scoring, with exemplars, of `FEW` occupations at least.
        embed: cleaned titles to embeddings of unit norm.
        embeddings: of the titles of the search's index, then of its exemplars.
    """

    search: Search
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]]
    embeddings: Float32[np.ndarray, "title dim"]

    def blocks(self, titles: Sequence[str], depth: int) -> Iterator[tuple[slice, Hits]]:
        """Yield block after block of any number of titles, with the place of each.

        Raises:
            ValueError: `depth` is above `DEPTH`.
        """
        if depth > DEPTH:
            raise ValueError(f"{depth} answers of so few candidates: {DEPTH} at most")
        for start in range(0, len(titles), LOT):
            lot = titles[start : start + LOT]
            for place, hits in self._lot(lot, depth):
                yield slice(start + place.start, start + place.stop), hits

    def _lot(self, titles: Sequence[str], depth: int) -> Iterator[tuple[slice, Hits]]:
        embeddings = self.embed(titles)
        scores = np.empty((len(titles), len(self.search.index.occupations)), np.float32)
        candidates = np.empty((len(titles), CANDIDATES), np.int64)
        for start in range(0, len(titles), TILE):
            part = slice(start, start + TILE)
            scores[part] = self.prototypes(embeddings[part])
            candidates[part] = self._candidates(titles[part], scores[part])
        score = self._scored_once if len(titles) <= TILE else self._scored
        scored = score(embeddings, candidates)
        np.put_along_axis(scores, candidates, scored.scores, axis=1)
        for start in range(0, len(titles), TITLES_AT_ONCE):
            place = slice(start, min(start + TITLES_AT_ONCE, len(titles)))
            best = np.lexsort((candidates[place], -scored.scores[place]), axis=1)[:, :depth]
            hits = Hits(
                scores[place],
                np.take_along_axis(candidates[place], best, axis=1),
                np.take_along_axis(scored.titles[place], best, axis=1),
                scored.closest[place].max(axis=1),
            )
            yield place, hits

    def _candidates(
        self, titles: Sequence[str], scores: Float32[np.ndarray, "query occupation"]
    ) -> Int64[np.ndarray, "query candidate"]:
        """Return the best occupations of each title, and those that have it as an alias."""
        least = np.partition(scores, -CANDIDATES, axis=1)[:, -CANDIDATES]
        # faster than argpartition; ties are more
        rows, names = np.nonzero(scores >= least[:, None])
        places = np.arange(len(rows)) - np.searchsorted(rows, np.arange(len(titles)))[rows]
        best = names[places < CANDIDATES].reshape(len(titles), CANDIDATES)
        for row, title in enumerate(titles):
            own = self.search.index.owners.get(title, ())
            missing = [name for name in own if name not in best[row]][:CANDIDATES]
            if missing:  # in the place of the worst that are no owners themselves
                ranked = sorted(
                    best[row].tolist(), key=lambda name: (name in own, scores[row, name])
                )
                best[row] = [*missing, *ranked[len(missing) :]]
        return best

    def _scored(
        self,
        embeddings: Float32[np.ndarray, "query dim"],
        candidates: Int64[np.ndarray, "query candidate"],
    ) -> Scored:
        """Score every (title, candidate) over all links of the occupation."""
        flat = candidates.reshape(-1)
        order = np.argsort(flat, kind="stable")
        names, begin = np.unique(flat[order], return_index=True)
        scores, closest = np.empty((2, len(flat)), np.float32)
        titles = np.empty(len(flat), np.int64)
        weighted_vectors, t = self.weighted_vectors, self.weighted_vectors.temperature
        for name, pairs in zip(names.tolist(), np.split(order, begin[1:]), strict=True):
            part = slice(weighted_vectors.starts[name], weighted_vectors.starts[name + 1])
            places = weighted_vectors.places[part]
            near = self.embeddings[places] @ columns_of(embeddings[pairs // CANDIDATES])
            best = near[:, : weighted_vectors.aliases[name]].argmax(axis=1)
            most = near.max(axis=1)
            exp_below(most[:, None], near, t)
            near *= weighted_vectors.weights[part, None]
            total = most + t * np.log(near.sum(axis=1))
            scores[pairs], titles[pairs], closest[pairs] = (
                values.reshape(-1)[: len(pairs)] for values in (total, places[best], most)
            )
        return Scored(*(values.reshape(candidates.shape) for values in (scores, titles, closest)))

    def _scored_once(
        self,
        embeddings: Float32[np.ndarray, "query dim"],
        candidates: Int64[np.ndarray, "query candidate"],
    ) -> Scored:
        """Do the same for the titles of one tile, all links in one table: a third of the time."""
        weighted_vectors, t = self.weighted_vectors, self.weighted_vectors.temperature
        names, which = np.unique(candidates, return_inverse=True)
        sizes = weighted_vectors.starts[names + 1] - weighted_vectors.starts[names]
        begin = np.cumsum(sizes) - sizes
        own = np.arange(sizes.sum()) + np.repeat(weighted_vectors.starts[names] - begin, sizes)
        places, tile = weighted_vectors.places[own], columns_of(embeddings)[0]
        rows, near = self.embeddings[places], np.empty((len(own), TILE), np.float32)
        spans = [
            slice(*span) for span in zip(begin.tolist(), (begin + sizes).tolist(), strict=True)
        ]
        for span in spans:  # one by one: a product's bits depend on its shape
            np.matmul(rows[span], tile, out=near[span])
        best = [
            places[span][near[span][:aliases].argmax(axis=0)]
            for span, aliases in zip(spans, weighted_vectors.aliases[names].tolist(), strict=True)
        ]
        most = np.maximum.reduceat(near, begin)
        exp_below(np.repeat(most, sizes, axis=0), near, t)
        near *= weighted_vectors.weights[own, None]
        total = most + t * np.log([near[span].sum(axis=0) for span in spans])
        at = which.reshape(candidates.shape), np.arange(len(candidates))[:, None]
        return Scored(total[at], np.array(best)[at], most[at])

    @cached_property
    def weighted_vectors(self) -> WeightedVectors:
        """All aliases and exemplars."""
        return WeightedVectors.of(self.search)

    @cached_property
    def prototypes(self) -> Prototypes:
        """Prototypes of all of these."""
        return Prototypes.of(self.weighted_vectors, self.embeddings)
