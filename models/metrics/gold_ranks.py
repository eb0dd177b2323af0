"""Success@k and reciprocal rank of the first gold occupation, with ties by expectation.

The occupations that share a score stand in an unknown order. Every order is taken as equally
likely, and a query's value is the mean over them: no accident of sorting helps or hurts a system.
A query may have several gold occupations; any of them is a hit.
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
    """Where each query's best gold occupation stands.

    Attributes:
        better: occupations that score above it; none of them is gold.
        tied: occupations at exactly its score, itself included (at least 1).
        gold_tied: the gold ones among the tied (at least 1).
    """

    better: Int64[np.ndarray, " query"]
    tied: Int64[np.ndarray, " query"]
    gold_tied: Int64[np.ndarray, " query"]


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

    Higher scores are better, ±inf included; equal ones are ties. Gold −1 fills up.

    Raises:
        ValueError: a score is NaN, a query has no gold, or an index is no occupation.
    """
    distinct = _distinct(gold, scores.shape[1])
    if np.isnan(scores).any():
        raise ValueError(f"query {np.isnan(scores).any(axis=1).argmax()} has a score that is NaN")
    gold_scores = np.take_along_axis(scores, np.maximum(gold, 0), axis=1)
    best = np.where(distinct, gold_scores, -np.inf).max(axis=1, keepdims=True)
    return GoldRank(
        better=np.count_nonzero(scores > best, axis=1),
        tied=np.count_nonzero(scores == best, axis=1),
        gold_tied=np.count_nonzero(distinct & (gold_scores == best), axis=1),
    )


def success_at_k(rank: GoldRank, k: int) -> Float64[np.ndarray, " query"]:
    """Return the probability that a gold occupation stands among the first k places.

    Range 0 to 1, higher is better. With j = min(max(k − better, 0), tied) places open to the tied,
    it is 1 − C(tied − gold_tied, j) / C(tied, j), as a product of gold_tied fractions; with one
    gold it is j / tied. Chance level over N occupations with g gold: 1 − C(N − g, k) / C(N, k),
    which is k / N for one gold. Success@1 is the papers' accuracy.

    Raises:
        ValueError: k is below 1.
    """
    if k < 1:
        raise ValueError(f"k = {k}; success@k needs at least one place")
    places = np.clip(k - rank.better, 0, rank.tied)
    missed = np.ones(len(places))
    for placed in range(rank.gold_tied.max(initial=0)):
        left = np.maximum(rank.tied - placed, 1)
        misses = np.maximum(rank.tied - placed - places, 0) / left
        missed *= np.where(placed < rank.gold_tied, misses, 1.0)
    return 1.0 - missed


def reciprocal_rank(rank: GoldRank) -> Float64[np.ndarray, " query"]:
    """Return the expected 1 / rank of the first gold occupation; its mean over queries is `mrr`.

    Range: above 0, to 1; higher is better. It is Σ_x P(x) / (better + x), where P(x) = C(tied − x,
    gold_tied − 1) / C(tied, gold_tied) is the probability that the first gold of the tied stands at
    place x. Chance level over N occupations with one gold: (1 + 1/2 + … + 1/N) / N.
    """
    triples = np.stack([rank.better, rank.tied, rank.gold_tied], axis=1)
    distinct, row = np.unique(triples, axis=0, return_inverse=True)
    better, tied, gold_tied = distinct.T
    expected, probability = np.zeros(len(distinct)), gold_tied / tied
    for place in range(1, (tied - gold_tied).max(initial=-1) + 2):
        expected += probability / (better + place)
        others = np.maximum(tied - place - gold_tied + 1, 0)
        probability = probability * others / np.maximum(tied - place, 1)
    return expected[row.reshape(-1)]


def _distinct(
    gold: Int[np.ndarray, "query gold"], occupations: int
) -> Bool[np.ndarray, "query gold"]:
    """Check the entries and mark those that are gold and stand for the first time."""
    is_gold = gold >= 0
    if not is_gold.any(axis=1).all():
        missing = np.flatnonzero(~is_gold.any(axis=1))
        raise ValueError(f"{len(missing)} queries have no gold, the first is query {missing[0]}")
    if gold.size and (gold.max() >= occupations or gold.min() < -1):
        raise ValueError(
            f"gold holds {gold.max()} or {gold.min()}; occupations: 0–{occupations - 1}"
        )
    for column in range(1, gold.shape[1]):
        is_gold[:, column] &= (gold[:, :column] != gold[:, column, None]).all(axis=1)
    return is_gold
