"""Models rank the occupations for the gate's queries, all with the aliases of one index.

The scores are those of `Normalizer.within(index)`, but models whose aliases and queries have the
same embeddings, as a corrected champion and its opponent, compare them once.
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
from models.search.occupation_scores import ScoreRule
from models.search.search import Search
from models.search.stored_vectors import StoredVectors

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

QUERIES_AT_ONCE = 256

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
        embedded: embeddings of the queries, of unit norm.
        table: embeddings of the model's own titles, then of its exemplars.
        places: in `table`, of the titles of the index.
        first_exemplar: where the exemplars begin in `table`.
    """

    search: Search
    embedded: Float32[np.ndarray, "query dim"]
    table: StoredVectors
    places: Int64[np.ndarray, " title"]
    first_exemplar: int

    @classmethod
    def of(cls, model: Normalizer, index: AliasIndex, queries: Sequence[str]) -> Self:
        """Embed the queries."""
        return cls(
            model.within(index),
            np.concatenate([model.embed(queries[part]) for part in _blocks(len(queries))]),
            model.embeddings,
            model.title_places(index.titles),
            len(model.index.titles),
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
        theirs, members = self.search.rule, self.search.index.memberships
        rule = ScoreRule(theirs.kind, theirs.temperature, theirs.language_weights)  # of this code
        aliases, scores = self.table[self.places].T, []
        memory = np.empty((QUERIES_AT_ONCE, len(self.places)), np.float32)
        for part in self._parts:
            own = self.embedded[part]
            scores.append(rule(np.matmul(own, aliases, out=memory[: len(own)]), members))
        return np.concatenate(scores)

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
        return _blocks(len(self.embedded))


def _blocks(count: int) -> list[slice]:
    """Cut queries into blocks; no queries are one."""
    return [slice(at, at + QUERIES_AT_ONCE) for at in range(0, max(count, 1), QUERIES_AT_ONCE)]
