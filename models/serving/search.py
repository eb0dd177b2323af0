"""Cleaned titles looked up in an index: the one way from similarities to ranked occupations.

Evaluation, gate, simulated feedback and the registered model search with this module; they differ
in where the similarities come from. With many occupations the model searches in two stages:
prototypes choose the few that are scored in full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.serving.index import LANES, AliasIndex, StoredVectors, in_pairs, quantized
from models.serving.kernels import TITLES, score_links, threads
from models.serving.prototypes import Prototypes, WeightedVectors
from models.serving.scores import Exemplars, ScoreRule, best_titles

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, Int, Int64

Similarities = Callable[[Sequence[str]], "Float32[np.ndarray, 'query title']"]
"""A system as one function: cleaned titles in, similarities to the titles of an index out, and then
to those of the exemplars, where a search has any."""
TITLES_AT_ONCE = 256  # titles looked up at once: their similarities to 100,000 titles take 100 MB
CANDIDATES = 20  # occupations that a search in two stages scores in full
DEPTH = CANDIDATES // 2  # answers that two stages give; `Search` finds more of them faster
BATCH = 4096  # titles whose candidates are scored together, occupation by occupation


class Hits(NamedTuple):
    """The results of a block of titles.

    Attributes:
        scores: of all occupations.
        occupations: positions of the best, best first; equal scores in the order of their ids.
        titles: the closest title of each of these, a position in the index.
        top_similarity: to the closest title or exemplar of all.
    """

    scores: Float[np.ndarray, "query occupation"]
    occupations: Int[np.ndarray, "query k"]
    titles: Int[np.ndarray, "query k"]
    top_similarity: Float[np.ndarray, " query"]


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
        best = (-scores).argsort(axis=1, kind="stable")[:, :depth]
        row = np.arange(len(best)).repeat(best.shape[1])
        closest = best_titles(similarities, memberships, row, best.reshape(-1))
        return Hits(scores, best, closest.reshape(best.shape), everything.max(axis=1))

    def blocks(self, titles: Sequence[str], depth: int) -> Iterator[tuple[slice, Hits]]:
        """Yield block after block of any number of titles, with the rows of each."""
        for start in range(0, len(titles), TITLES_AT_ONCE):
            rows = slice(start, min(start + TITLES_AT_ONCE, len(titles)))
            yield rows, self(titles[rows], depth)

    def hits(self, titles: Sequence[str], depth: int) -> Hits:
        """Look up any number of titles, and keep the scores of all."""
        blocks = [hits for _, hits in self.blocks(titles, depth)] or [self(titles, depth)]
        return Hits(*map(np.concatenate, zip(*blocks, strict=True)))


@dataclass(frozen=True, eq=False)
class TwoStageSearch:
    """A search with less work.

    The occupations that score best by their prototypes, and those that have the title as an alias,
    are scored over all their vectors. The others keep the prototypes' score, which counts in the
    chances alone: no answer is taken from them. The study `bulk` measures the loss.

    Attributes:
        index: of many occupations.
        rule: soft.
        exemplars: of the occupations.
        embeddings: of the titles of `index`, then of the exemplars.
        prototypes: of all links (`tasks/release/model_package/prototypes.py`).
    """

    index: AliasIndex
    rule: ScoreRule
    exemplars: Exemplars
    embeddings: StoredVectors
    prototypes: Prototypes

    def hits(
        self,
        vectors: Float32[np.ndarray, "title dim"],
        positions: Int64[np.ndarray, " title"],
        depth: int,
    ) -> Hits:
        """Look up embedded titles, `BATCH` at most.

        `positions`: of the titles in the index, −1 of one that it lacks. The scores lie in memory
        that a later call takes again; give it back with `free` when nobody reads them any more.

        Raises:
            ValueError: `depth` is above `DEPTH`.
        """
        if depth > DEPTH:
            raise ValueError(f"{depth} answers of so few candidates: {DEPTH} at most")
        rows, rounded = np.arange(len(vectors))[:, None], quantized(vectors)
        scores, best = self.prototypes(rounded, CANDIDATES, self._memory(len(vectors)))
        candidates = self._with_owners(positions, scores, best)
        exact, titles, nearest = self._score(rounded, candidates)
        scores[rows, candidates] = exact
        ranked = np.lexsort((candidates, -exact), axis=1)[:, :depth]
        return Hits(scores, candidates[rows, ranked], titles[rows, ranked], nearest.max(axis=1))

    def scores(
        self, vectors: Float32[np.ndarray, "title dim"], occupations: Sequence[int]
    ) -> Float32[np.ndarray, "title occupation"]:
        """Return the scores of some occupations for embedded titles."""
        candidates = np.tile(np.array(occupations, np.int64), (len(vectors), 1))
        return self._score(quantized(vectors), candidates)[0]

    def _memory(self, titles: int) -> Float32[np.ndarray, "more occupation"]:
        with suppress(IndexError):  # all is in use
            memory = self._spare.pop()
            if len(memory) >= titles:
                return memory
        return np.empty((titles, len(self.index.occupations)), np.float32)

    def free(self, hits: Hits) -> None:
        """Take the memory of scores that nobody reads any more."""
        whole = hits.scores if hits.scores.base is None else hits.scores.base
        self._spare.append(whole)

    @cached_property
    def _spare(self) -> deque[Float32[np.ndarray, "more occupation"]]:
        """Memory that was used before: to clear what is new takes a tenth of the time."""
        return deque(maxlen=threads())

    def _with_owners(
        self,
        positions: Int64[np.ndarray, " query"],
        scores: Float32[np.ndarray, "query occupation"],
        best: Int64[np.ndarray, "query candidate"],
    ) -> Int64[np.ndarray, "query candidate"]:
        """Put the occupations that have a title as an alias among its best, in place."""
        for row in (positions >= 0).nonzero()[0].tolist():
            own = self.index.owners_of(int(positions[row]))
            missing = [name for name in own if name not in best[row]][:CANDIDATES]
            if missing:  # instead of the worst that are no owners themselves
                ranked = sorted(
                    best[row].tolist(), key=lambda name: (name in own, scores[row, name])
                )
                best[row] = [*missing, *ranked[len(missing) :]]
        return best

    def _score(
        self,
        titles: Float32[np.ndarray, "query dim"],
        candidates: Int64[np.ndarray, "query candidate"],
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Score the candidates of quantized titles over all their links.

        Returns:
            score, closest alias and similarity of the closest link, of each candidate.
        """
        made = tuple(
            np.empty(candidates.shape, kind) for kind in (np.float32, np.int64, np.float32)
        )
        links, (table, sums) = self.links, self._table
        flat = candidates.reshape(-1)
        pairs = flat.argsort(kind="stable")
        ends = flat[pairs].searchsorted(np.arange(len(links.aliases)), side="right")
        arrays = (links.positions, links.weights, links.starts, links.aliases)
        short = in_pairs(titles.astype(np.int16))
        temperature = np.float32(links.temperature)
        score_links(short, pairs, ends, table, arrays, temperature, sums.copy(), made)
        return made  # type: ignore[return-value]  # three of them

    @cached_property
    def _table(self) -> tuple[tuple[np.ndarray, ...], Float32[np.ndarray, "4 row"]]:
        """The rows of all links for the kernel, and memory for products with an occupation's."""
        table = self.embeddings.blocks(self.links.positions, self.links.starts)
        return table, np.empty((TITLES, LANES * int(np.diff(table[1]).max())), np.float32)

    @cached_property
    def links(self) -> WeightedVectors:
        """All aliases and exemplars."""
        return WeightedVectors.of(self.index, self.rule, self.exemplars)


def nearest_titles(
    titles: Sequence[str],
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]],
    others: Float32[np.ndarray, "other dim"],
    k: int,
) -> Iterator[tuple[int, int, int, float]]:
    """Yield row, rank (from 1), position in `others` and cosine of each title's `k` closest others.

    Equal ones stand in their own order; all are given if there are fewer.

    Raises:
        ValueError: `k` is below 1.
    """
    if k < 1:
        raise ValueError(f"k = {k}; it must be 1 or more")
    for start in range(0, len(titles), TITLES_AT_ONCE):
        similar = embed(titles[start : start + TITLES_AT_ONCE]) @ others.T
        best = (-similar).argsort(axis=1, kind="stable")[:, :k]
        for row, positions in enumerate(best.tolist()):
            for rank, position in enumerate(positions, start=1):
                yield start + row, rank, position, float(similar[row, position])
