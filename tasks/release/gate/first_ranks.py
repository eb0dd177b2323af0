"""Models rank the occupations for the gate's queries, all with the aliases of one index.

The scores are those of `Normalizer.within(index)`, with less work: a few aliases at a time are
compared with all queries, and soft scores add up as a product with a sparse matrix. Models whose
aliases and queries have the same embeddings, as a corrected champion and its opponent, share that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl

from models.metrics.gold_ranks import pad_gold, rank_gold, success_at_k
from models.normalizer.normalizer import Normalizer
from models.search.index import AliasIndex
from models.search.occupation_scores import exp_below, size_of
from models.search.search import Search
from models.search.stored_vectors import StoredVectors

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64
    from scipy import sparse

QUERIES_AT_ONCE = 256
ALIASES_AT_ONCE = 1 << 13
"""Their similarities to the queries at once stay in the processor's cache."""

Frames = tuple[pl.DataFrame, pl.DataFrame]


def rank_first(
    systems: Mapping[str, Normalizer], index: AliasIndex, queries: pl.DataFrame
) -> dict[str, Frames]:
    """Return `SCORES` and `RUN` of each system, of each the columns that the gate reads.

    Equal scores count by expectation; the first of them answers. A query whose gold occupations are
    all missing from the index counts as a miss.

    `queries`: schema `QUERIES`.

    Raises:
        KeyError: a title of the index is none of a system's.
    """
    gold = index.codes(queries["occupation_ids"].to_list())
    reachable = np.array([bool(codes) for codes in gold], bool)
    codes = pad_gold([codes for codes in gold if codes])
    frames, before = {}, None
    for name, model in systems.items():
        queried = QueriedModel.of(model, index, queries["cleaned"].to_list())
        if before is None or not queried.shares_aliases(before[0]):
            before = queried, queried.alias_scores()
        scores = queried.scores(before[1])
        right = np.zeros(len(queries))
        right[reachable] = success_at_k(rank_gold(scores[reachable], codes), 1)
        best = np.array(index.occupations, object)[scores.argmax(axis=1)]
        frames[name] = as_frames(
            name, queries, pl.Series(best, dtype=pl.String), pl.Series(right, dtype=pl.Float64)
        )
    return frames


def as_frames(
    system: str, queries: pl.DataFrame, answer: pl.Series, right: pl.Series | pl.Expr
) -> Frames:
    """Return `SCORES` and `RUN`, of each the columns that the gate reads.

    `answer`: to each of the `queries`, an occupation or null; `right`: its success@1.
    """
    named = queries.select(
        "test",
        "query_id",
        system=pl.lit(system),
        rank=pl.lit(1, pl.UInt32),
        occupation_id=answer,
        success_at_1=right,
    )
    key = "system", "test", "query_id"
    return named.select(*key, "success_at_1"), named.select(*key, "rank", "occupation_id")


@dataclass(frozen=True)
class QueriedModel:
    """A model, and the queries that it ranks occupations for.

    Attributes:
        search: of the model, within the index.
        queries: cleaned titles.
        embedded: their embeddings, of unit norm.
        table: embeddings of the model's own titles, then of its exemplars.
        places: in `table`, of the titles of the index.
        first_exemplar: where the exemplars begin in `table`.
    """

    search: Search
    queries: Sequence[str]
    embedded: Float32[np.ndarray, "query dim"]
    table: StoredVectors
    places: Int64[np.ndarray, " title"]
    first_exemplar: int

    @classmethod
    def of(cls, model: Normalizer, index: AliasIndex, queries: Sequence[str]) -> Self:
        """Embed the queries."""
        place = {title: row for row, title in enumerate(model.index.titles)}
        return cls(
            model.within(index),
            queries,
            np.concatenate([model.embed(queries[part]) for part in _blocks(len(queries))]),
            model.embeddings,
            np.array([place[title] for title in index.titles], np.int64),
            len(place),
        )

    def shares_aliases(self, other: QueriedModel) -> bool:
        """Say whether aliases score alike, to the last bit, in the search of the same index."""
        rule, their = self.search.rule, other.search.rule  # of classes of two packages
        rows, stored = self.table.rows, other.table.rows
        return (
            (rule.kind, rule.temperature) == (their.kind, their.temperature)
            and dict(rule.language_weights) == dict(their.language_weights)
            and np.array_equal(self.embedded, other.embedded)
            and rows.dtype == stored.dtype
            and np.array_equal(rows[self.places], stored[other.places])
        )

    def alias_scores(self) -> Float32[np.ndarray, "query occupation"]:
        """Score every occupation by its aliases."""
        rule, members = self.search.rule, self.search.index.memberships
        known = len(self.places)
        if rule.kind == "best":
            near = (self.search.similarities(self.queries[part]) for part in self._parts)
            return np.concatenate([rule(similar[:, :known], members) for similar in near])
        weights, t = self._weights, rule.temperature
        masses = np.zeros((weights.shape[0], len(self.queries)), np.float32)
        most = np.full(len(self.queries), -np.inf, np.float32)
        for start in range(0, known, ALIASES_AT_ONCE):
            own = slice(start, start + ALIASES_AT_ONCE)
            aliases, links = self.table[self.places[own]], weights[:, own]
            for part in self._parts:
                similar = aliases @ self.embedded[part].T
                top = np.maximum(most[part], similar.max(axis=0))
                masses[:, part] *= np.exp((most[part] - top) / t)
                masses[:, part] += links @ exp_below(top, similar, t)
                most[part] = top
        with np.errstate(divide="ignore"):  # all aliases too far away to count
            return np.ascontiguousarray((most + t * np.log(masses)).T)

    def scores(
        self, by_aliases: Float32[np.ndarray, "query occupation"]
    ) -> Float32[np.ndarray, "query occupation"]:
        """Score every occupation, given what they score by their aliases."""
        exemplars = self.search.exemplars
        if exemplars is None:
            return by_aliases
        own = self.table[self.first_exemplar :]
        return np.concatenate(
            [exemplars(by_aliases[part], self.embedded[part] @ own.T) for part in self._parts]
        )

    @property
    def _parts(self) -> list[slice]:
        return _blocks(len(self.queries))

    @property
    def _weights(self) -> sparse.csr_array:
        """How much each alias counts, by occupation and title."""
        from scipy import sparse

        index = self.search.index
        members = index.memberships
        weights = self.search.rule.weights(members)
        own = np.repeat(1 / np.sqrt(size_of(members, weights)), members.sizes)
        own = (own * (1 if weights is None else weights)).astype(np.float32)
        starts = np.append(members.starts, len(members.titles))
        shape = len(index.occupations), len(index.titles)
        return sparse.csr_array((own, members.titles, starts), shape=shape)


def _blocks(count: int) -> list[slice]:
    """Cut queries into blocks; no queries are one."""
    return [slice(at, at + QUERIES_AT_ONCE) for at in range(0, max(count, 1), QUERIES_AT_ONCE)]
