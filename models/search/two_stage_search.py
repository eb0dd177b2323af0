"""A search of many occupations in two stages: prototypes choose the few that are scored in full.

The occupations that score best by their prototypes, and those that have the title as an alias, are
scored over all their vectors (`models/search/weighted_vectors.py`). The others keep the
prototypes' score, which counts in the chances alone: no answer is taken from them. The study `bulk`
measures the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.search.kernels import Kernels, kernels_for
from models.search.occupation_scores import exp_below
from models.search.prototypes import Prototypes
from models.search.row_blocks import in_pairs
from models.search.search import Hits, Search
from models.search.stored_vectors import StoredVectors, whole
from models.search.title_places import TitlePlaces
from models.search.weighted_vectors import WeightedVectors

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

CANDIDATES = 20
"""Occupations that are scored in full."""
FEW = 1000
"""A search of fewer occupations is faster as a whole."""
DEPTH = CANDIDATES // 2
"""Nor is one for more answers to a title."""
LOT = 4096
"""Titles whose candidates are scored together, occupation by occupation, by the kernels."""


class Scored(NamedTuple):
    """Candidates of titles, in no order: score, closest alias and similarity of closest link."""

    scores: Float32[np.ndarray, "*query candidate"]
    titles: Int64[np.ndarray, "*query candidate"]
    closest: Float32[np.ndarray, "*query candidate"]


@dataclass(frozen=True)
class TwoStageSearch:
    """A search with less work.

    Attributes:
        search: softly scoring, with exemplars, of `FEW` occupations at least.
        embed: cleaned titles to embeddings of unit norm.
        embeddings: of the titles of the search's index, then of its exemplars.
        places: finds titles of the search's index.
        gathered: their prototypes, if they were gathered before.
    """

    search: Search
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]]
    embeddings: StoredVectors
    places: TitlePlaces
    gathered: Prototypes | None = None

    def hits(
        self,
        titles: Sequence[str],
        depth: int,
        kernels: Kernels | None = None,
        memory: Float32[np.ndarray, "more occupation"] | None = None,
    ) -> Hits:
        """Look up cleaned titles, `LOT` at most so that what is made of them stays small.

        `kernels`: those for many titles, if these are a part of many. `memory`: for the scores.

        Raises:
            ValueError: `depth` is above `DEPTH`.
        """
        if depth > DEPTH:
            raise ValueError(f"{depth} answers of so few candidates: {DEPTH} at most")
        kernels, rows = kernels or kernels_for(len(titles)), np.arange(len(titles))[:, None]
        rounded = whole(self.embed(titles))
        scores, best = self.prototypes(rounded, CANDIDATES, kernels, memory)
        candidates = self._with_owners(titles, scores, best)
        scored = self._scored(rounded, candidates, kernels)
        scores[rows, candidates] = scored.scores
        ranked = np.lexsort((candidates, -scored.scores), axis=1)[:, :depth]
        best, closest = candidates[rows, ranked], scored.titles[rows, ranked]
        return Hits(scores, best, closest, scored.closest.max(axis=1))

    def scores(
        self, titles: Sequence[str], occupations: Sequence[int]
    ) -> Float32[np.ndarray, "title occupation"]:
        """Return the scores of some occupations for a few titles."""
        embedded, names = whole(self.embed(titles)), np.array(occupations)
        return np.stack([self._score(title, names).scores for title in embedded])

    def _with_owners(
        self,
        titles: Sequence[str],
        scores: Float32[np.ndarray, "query occupation"],
        best: Int64[np.ndarray, "query candidate"],
    ) -> Int64[np.ndarray, "query candidate"]:
        """Put the occupations that have a title as an alias among its best, in place."""
        for row, place in enumerate(self.places(titles).tolist()):
            own = self.search.index.owners_of(place) if place >= 0 else ()
            missing = [name for name in own if name not in best[row]][:CANDIDATES]
            if missing:  # in the place of the worst that are no owners themselves
                ranked = sorted(
                    best[row].tolist(), key=lambda name: (name in own, scores[row, name])
                )
                best[row] = [*missing, *ranked[len(missing) :]]
        return best

    def _scored(
        self,
        titles: Float32[np.ndarray, "query dim"],
        candidates: Int64[np.ndarray, "query candidate"],
        kernels: Kernels | None,
    ) -> Scored:
        """Score the candidates of whole titles over all their links."""
        shape = candidates.shape
        made = Scored(
            np.empty(shape, np.float32), np.empty(shape, np.int64), np.empty(shape, np.float32)
        )
        if kernels:
            links, t = self.weighted_vectors, np.float32(self.weighted_vectors.temperature)
            arrays = (links.places, links.weights, links.starts, links.aliases)
            short = in_pairs(titles.astype(np.int16))
            kernels.score_links(short, candidates, self._blocks, arrays, t, tuple(made))
        else:
            for row, names in enumerate(candidates):
                for column, own in zip(made, self._score(titles[row], names), strict=True):
                    column[row] = own
        return made

    def _score(
        self, title: Float32[np.ndarray, " dim"], names: Int64[np.ndarray, " candidate"]
    ) -> Scored:
        """Score a whole title for some occupations over all links of these."""
        links, t = self.weighted_vectors, self.weighted_vectors.temperature
        starts = links.starts[names]
        sizes = links.starts[names + 1] - starts
        begins = np.cumsum(sizes) - sizes
        own = np.arange(sizes.sum()) + np.repeat(starts - begins, sizes)
        places = links.places[own]
        near = self.embeddings.near(title[None], places)[0]
        spans = zip(begins.tolist(), links.aliases[names].tolist(), strict=True)
        best = [begin + int(near[begin : begin + aliases].argmax()) for begin, aliases in spans]
        most = np.maximum.reduceat(near, begins)
        exp_below(np.repeat(most, sizes), near, t)
        near *= links.weights[own]
        return Scored(most + t * np.log(np.add.reduceat(near, begins)), places[best], most)

    @cached_property
    def _blocks(self) -> tuple[np.ndarray, ...]:
        """The rows of all links, for the kernels."""
        return self.embeddings.blocks(self.weighted_vectors.places, self.weighted_vectors.starts)

    @cached_property
    def weighted_vectors(self) -> WeightedVectors:
        """All aliases and exemplars."""
        return WeightedVectors.of(self.search)

    @cached_property
    def prototypes(self) -> Prototypes:
        """Prototypes of all of these."""
        return self.gathered or Prototypes.of(self.weighted_vectors, self.embeddings[:])
