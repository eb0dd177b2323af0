"""Where the gold of each query stands: success@k, reciprocal rank, average precision.

The project's own tables take ties by expectation (`rank_gold`): every order of occupations that
share a score is equally likely, and a query's value is the mean over them. A query may have several
gold occupations; any of them is a hit. `RelevantPositions` counts ranked lists as trec_eval does:
by falling score, and of equal scores the later document first. With documents sorted by id the
values are those of trec_eval and ir-measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int, Int64


@dataclass(frozen=True)
class GoldRank:
    """Where each query's best gold occupation stands."""

    better: Int64[np.ndarray, " query"]  # occupations that score above it; none of them is gold
    tied: Int64[np.ndarray, " query"]  # occupations at exactly its score, itself included
    gold_tied: Int64[np.ndarray, " query"]  # the gold ones among the tied (at least 1)


def pad_gold(gold: Sequence[Sequence[int]]) -> Int64[np.ndarray, "query gold"]:
    """Put ragged lists of gold occupations into one array, filled up with −1."""
    width = max(1, *map(len, gold)) if gold else 1
    padded = np.full((len(gold), width), -1, dtype=np.int64)
    for row, occupations in zip(padded, gold, strict=True):
        row[: len(occupations)] = occupations
    return padded


def rank_gold(
    scores: Float[np.ndarray, "query occupation"], gold: Int[np.ndarray, "query gold"]
) -> GoldRank:
    """Compare every occupation with the best-scored gold one of its query.

    Higher scores are better, ±inf included; equal ones are ties. Gold −1 fills up. ValueError if a
    score is NaN, a query has no gold, or an index is no occupation.
    """
    distinct = _distinct(gold, scores.shape[1])
    _check_scores(scores)
    gold_scores = np.take_along_axis(scores, np.maximum(gold, 0), axis=1)
    best = np.where(distinct, gold_scores, -np.inf).max(axis=1, keepdims=True)
    return GoldRank(
        better=np.count_nonzero(scores > best, axis=1),
        tied=np.count_nonzero(scores == best, axis=1),
        gold_tied=np.count_nonzero(distinct & (gold_scores == best), axis=1),
    )


def success_at_k(rank: GoldRank, k: int) -> Float64[np.ndarray, " query"]:
    """Return the probability that a gold occupation stands among the first k positions.

    Range 0 to 1, higher is better. With j = min(max(k − better, 0), tied) positions for the tied,
    it is 1 − C(tied − gold_tied, j) / C(tied, j), as a product of gold_tied fractions; with one
    gold it is j / tied. Chance level over N occupations with g gold: 1 − C(N − g, k) / C(N, k),
    which is k / N for one gold. Success@1 is the papers' accuracy. ValueError if k is below 1.
    """
    if k < 1:
        raise ValueError(f"k = {k}; success@k needs at least one position")
    positions = np.clip(k - rank.better, 0, rank.tied)
    missed = np.ones(len(positions))
    for placed in range(rank.gold_tied.max(initial=0)):
        left = np.maximum(rank.tied - placed, 1)
        misses = np.maximum(rank.tied - placed - positions, 0) / left
        missed *= np.where(placed < rank.gold_tied, misses, 1.0)
    return 1.0 - missed


def reciprocal_rank(rank: GoldRank) -> Float64[np.ndarray, " query"]:
    """Return the expected 1 / rank of the first gold occupation; its mean over queries is `mrr`.

    Range: above 0, to 1; higher is better. It is Σ_x P(x) / (better + x), where P(x) = C(tied − x,
    gold_tied − 1) / C(tied, gold_tied) is the probability that the first gold of the tied stands at
    position x. Chance level over N occupations with one gold: (1 + 1/2 + … + 1/N) / N.
    """
    triples = np.stack([rank.better, rank.tied, rank.gold_tied], axis=1)
    distinct, row = np.unique(triples, axis=0, return_inverse=True)
    better, tied, gold_tied = distinct.T
    expected, probability = np.zeros(len(distinct)), gold_tied / tied
    for position in range(1, (tied - gold_tied).max(initial=-1) + 2):
        expected += probability / (better + position)
        others = np.maximum(tied - position - gold_tied + 1, 0)
        probability = probability * others / np.maximum(tied - position, 1)
    return expected[row.reshape(-1)]


def ranked(scores: Float[np.ndarray, "query document"]) -> Int64[np.ndarray, "query document"]:
    """Rank the documents of each query, of equal ones the rightmost first; ValueError for NaN."""
    _check_scores(scores)
    from_the_right = np.argsort(-scores[:, ::-1], axis=1, kind="stable")
    return np.asarray(scores.shape[1] - 1 - from_the_right)


@dataclass(frozen=True)
class RelevantPositions:
    """Where the relevant documents of each query stand."""

    # rising, the first position is 1; infinite for a document that was not found, and to fill up
    positions: Float64[np.ndarray, "query gold"]
    relevant: Int64[np.ndarray, " query"]  # documents of each query, found or not, at least one

    @classmethod
    def of(
        cls,
        order: Int[np.ndarray, "query document"],
        gold: Int[np.ndarray, "query gold"],
        depth: int,
    ) -> RelevantPositions:
        """Look the `gold` documents up in the `order` of `ranked`; −1 fills up (`pad_gold`).

        A document below position `depth` counts as not found. ValueError if a query has no relevant
        document.
        """
        is_gold = gold >= 0
        if not is_gold.any(axis=1).all():
            raise ValueError(f"query {(~is_gold.any(axis=1)).argmax()} has no relevant document")
        position = np.empty(order.shape)
        np.put_along_axis(position, order, np.arange(1.0, order.shape[1] + 1)[None], axis=1)
        own = np.take_along_axis(position, np.maximum(gold, 0), axis=1)
        positions = np.where(is_gold & (own <= depth), own, np.inf)
        return cls(np.sort(positions, axis=1), is_gold.sum(axis=1))

    def average_precision(self) -> Float64[np.ndarray, " query"]:
        """Return the mean over the relevant documents of the precision at the position of each.

        Range 0 to 1, higher is better. It is Σ_i (i / position_i) / relevant, where position_i is
        that of the i-th relevant document, and one that was not found adds nothing (Buckley and
        Voorhees 2005).
        """
        rank = np.arange(1, self.positions.shape[1] + 1)
        return np.asarray((rank / self.positions).sum(axis=1) / self.relevant)

    def reciprocal_rank(self) -> Float64[np.ndarray, " query"]:
        """Return 1 / position of the first relevant document, 0 where none was found."""
        return np.asarray(1 / self.positions[:, 0])

    def success_at_k(self, k: int) -> Float64[np.ndarray, " query"]:
        """Return 1 where a relevant document stands among the first `k`, else 0."""
        return (self.positions[:, 0] <= k).astype(np.float64)


def _check_scores(scores: Float[np.ndarray, "query document"]) -> None:
    if (missing := np.isnan(scores).any(axis=1)).any():
        raise ValueError(f"query {missing.argmax()} has a score that is NaN")


def _distinct(
    gold: Int[np.ndarray, "query gold"], occupations: int
) -> Bool[np.ndarray, "query gold"]:
    """Check the entries and mark those that are gold and stand for the first time."""
    is_gold = gold >= 0
    if len(missing := np.flatnonzero(~is_gold.any(axis=1))):
        raise ValueError(f"{len(missing)} queries have no gold, the first is query {missing[0]}")
    if gold.size and (gold.max() >= occupations or gold.min() < -1):
        ends = f"{gold.max()} or {gold.min()}"
        raise ValueError(f"gold holds {ends}; occupations: 0–{occupations - 1}")
    for column in range(1, gold.shape[1]):
        is_gold[:, column] &= (gold[:, :column] != gold[:, column, None]).all(axis=1)
    return is_gold
