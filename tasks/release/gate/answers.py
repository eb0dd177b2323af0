"""The gate's queries, and the answers of challenger and opponent to them.

The models rank with the aliases of one index, and models whose aliases and queries have the same
embeddings, as a corrected champion and its opponent, compare them once. Of the test `everyday`,
clear titles with answers by hand, the models answer as a consumer loads them: with all titles,
exact matches and respelling. An abstention is a miss.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from models.metrics.retrieval import pad_gold, rank_gold, success_at_k
from models.serving.index import AliasIndex, StoredVectors
from models.serving.model import Normalizer
from models.serving.scores import ScoreRule
from models.serving.search import Search
from tasks.evaluation.everyday import HALVES, read_everyday
from tasks.io.mixes import read_queries
from tasks.io.schemas import QUERIES
from tasks.io.title_readings import with_readings

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

QUERIES_AT_ONCE = 256
EVERYDAY = "everyday"
Answers = tuple[np.ndarray, np.ndarray]  # first occupations, None for an abstention; success@1


def gate_queries(data: Path) -> pl.DataFrame:
    """Read the gate's queries: schema `QUERIES`.

    The gate leaves out a mined input whose label contradicts the title in it (source
    `label_differs`): a network that learned the label would count as worse.
    """
    return read_queries("gate", data).filter(pl.col("source") != "label_differs")


def everyday_queries(file: Path, occupations: Sequence[str]) -> pl.DataFrame:
    """Read the clear titles of the half `work`: schema `QUERIES`.

    ValueError as `read_everyday`, or if the answers are of another taxonomy than `occupations`.
    """
    clear = read_everyday(file, HALVES[0]).filter(kind="clear")
    if set(clear["occupation_ids"].explode()).isdisjoint(occupations):
        raise ValueError(f"gate.everyday = {file}: it names no occupation of the taxonomy")
    return with_readings(
        clear.select(
            pl.format("{}-{}", pl.lit(EVERYDAY), pl.int_range(pl.len())).alias("query_id"),
            "raw_title",
            "occupation_ids",
            test=pl.lit(EVERYDAY),
            split=pl.lit("gate"),
            occupation_size=pl.lit(0, pl.UInt32),
            source=pl.lit("hand"),
        )
    ).select(list(QUERIES))


def first_answers(model: Normalizer, queries: pl.DataFrame) -> Answers:
    """Ask a whole model."""
    answers = model.predict(queries["raw_title"].to_list(), top_k=1).table["occupation_id"]
    first = pl.Series(answers.to_pylist(), dtype=pl.String)
    right = queries["occupation_ids"].list.contains(first).fill_null(value=False)
    return first.to_numpy(), right.cast(pl.Float64).to_numpy()


def rank_first(
    models: Sequence[Normalizer], index: AliasIndex, queries: pl.DataFrame
) -> list[Answers]:
    """Rank the occupations of an index by each model.

    Equal scores count by expectation; the first of them answers. A query (schema `QUERIES`) whose
    gold occupations are all missing from the index counts as a miss. A KeyError says that a title
    of the index is none of a model's.
    """
    gold = index.gold_positions(queries["occupation_ids"].to_list())
    reachable = np.array([bool(codes) for codes in gold], bool)
    codes = pad_gold([codes for codes in gold if codes])
    answers, before = [], None
    for model in models:
        queried = QueriedModel.of(model, index, queries["cleaned"].to_list())
        if before is None or not queried.shares_aliases(before[0]):
            before = queried, queried.alias_scores()
        scores = queried.scores(before[1])
        right = np.zeros(len(queries))
        right[reachable] = success_at_k(rank_gold(scores[reachable], codes), 1)
        answers.append((np.array(index.occupations, object)[scores.argmax(axis=1)], right))
    return answers


@dataclass(frozen=True)
class QueriedModel:
    """A model, and the queries that it ranks occupations for."""

    search: Search  # within the index
    embedded: Float32[np.ndarray, "query dim"]  # queries, of unit norm
    table: StoredVectors  # of the model's own titles, then of its exemplars
    positions: Int64[np.ndarray, " title"]  # in `table`, of the titles of the index
    first_exemplar: int  # where the exemplars begin in `table`

    @classmethod
    def of(cls, model: Normalizer, index: AliasIndex, queries: Sequence[str]) -> Self:
        """Embed the queries."""
        return cls(
            model.within(index),
            np.concatenate([model.network(queries[part]) for part in _blocks(len(queries))]),
            model.embeddings,
            model.index.positions(index.titles),
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
            and np.array_equal(rows[self.positions], stored[other.positions])
        )

    def alias_scores(self) -> Float32[np.ndarray, "query occupation"]:
        """Score every occupation by its aliases."""
        theirs, members = self.search.rule, self.search.index.memberships
        rule = ScoreRule(theirs.kind, theirs.temperature, theirs.language_weights)  # of this code
        aliases, scores = self.table[self.positions].T, []
        memory = np.empty((QUERIES_AT_ONCE, len(self.positions)), np.float32)
        for part in _blocks(len(self.embedded)):
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
        own, parts = self.table[self.first_exemplar :].T, _blocks(len(self.embedded))
        scores = [exemplars(by_aliases[part], self.embedded[part] @ own) for part in parts]
        return np.concatenate(scores)


def _blocks(count: int) -> list[slice]:
    """Cut queries into blocks; no queries are one."""
    return [slice(at, at + QUERIES_AT_ONCE) for at in range(0, max(count, 1), QUERIES_AT_ONCE)]


def changed_predictions(
    queries: pl.DataFrame,
    before: Iterable[str | None],
    after: Iterable[str | None],
    labels: Mapping[str, str],
    rows: Mapping[str, int],
) -> list[dict[str, Any]]:
    """List the queries whose first answer is right with one model and wrong with the other.

    `queries`: schema `QUERIES`; `before`, `after`: first answers of opponent and challenger; their
    labels are None for an abstention. `rows`: of a title in the last bulk run, 0 if it is missing.
    """
    return [
        {
            "test": query["test"],
            "raw_title": query["raw_title"],
            "occupation_label": " or ".join(labels[name] for name in query["occupation_ids"]),
            "before": labels.get(was or ""),
            "after": labels.get(now or ""),
            "change": "wrong to right" if now in query["occupation_ids"] else "right to wrong",
            "rows": rows.get(query["raw_title"], 0),
        }
        for query, was, now in zip(queries.iter_rows(named=True), before, after, strict=True)
        if (was in query["occupation_ids"]) != (now in query["occupation_ids"])
    ]
