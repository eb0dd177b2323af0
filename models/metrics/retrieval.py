"""Average precision, reciprocal rank and success@k of ranked lists, as trec_eval counts them.

A list has every document in one order: by falling score, and of equal scores the later document
first. With documents sorted by id that is trec_eval's rule, so the values are those of trec_eval
and of ir-measures, ties included. The project's own tables take the mean over all
orders of the tied instead (`models/metrics/gold_ranks.py`); without ties both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int, Int64


def ranked(scores: Float[np.ndarray, "query document"]) -> Int64[np.ndarray, "query document"]:
    """Return the documents of each query, best first; of equal scores the one further right.

    Raises:
        ValueError: a score is NaN.
    """
    if np.isnan(scores).any():
        raise ValueError(f"query {np.isnan(scores).any(axis=1).argmax()} has a score that is NaN")
    from_the_right = np.argsort(-scores[:, ::-1], axis=1, kind="stable")
    order: Int64[np.ndarray, "query document"] = scores.shape[1] - 1 - from_the_right
    return order


@dataclass(frozen=True)
class RelevantPlaces:
    """Where the relevant documents of each query stand.

    Attributes:
        places: rising, the first place is 1; infinite for a document that was not found, and to
            fill up.
        relevant: documents of each query, found or not, at least one.
    """

    places: Float64[np.ndarray, "query gold"]
    relevant: Int64[np.ndarray, " query"]

    @classmethod
    def of(
        cls,
        order: Int[np.ndarray, "query document"],
        gold: Int[np.ndarray, "query gold"],
        depth: int,
    ) -> RelevantPlaces:
        """Look the `gold` documents up in the `order` of `ranked`; −1 fills up (`pad_gold`).

        A document below place `depth` counts as not found.

        Raises:
            ValueError: a query has no relevant document.
        """
        is_gold = gold >= 0
        if not is_gold.any(axis=1).all():
            raise ValueError(f"query {(~is_gold.any(axis=1)).argmax()} has no relevant document")
        place = np.empty(order.shape)
        np.put_along_axis(place, order, np.arange(1.0, order.shape[1] + 1)[None], axis=1)
        own = np.take_along_axis(place, np.maximum(gold, 0), axis=1)
        places = np.where(is_gold & (own <= depth), own, np.inf)
        return cls(np.sort(places, axis=1), is_gold.sum(axis=1))

    def average_precision(self) -> Float64[np.ndarray, " query"]:
        """Return the mean over the relevant documents of the precision at the place of each.

        Range 0 to 1, higher is better; its mean over queries is `mean_average_precision`. It is
        Σ_i (i / place_i) / relevant, where place_i is that of the i-th relevant document, and one
        that was not found adds nothing (Buckley and Voorhees 2005). For one relevant document it
        is the reciprocal rank.
        """
        rank = np.arange(1, self.places.shape[1] + 1)
        precisions: Float64[np.ndarray, " query"] = (rank / self.places).sum(axis=1) / self.relevant
        return precisions

    def reciprocal_rank(self) -> Float64[np.ndarray, " query"]:
        """Return 1 / place of the first relevant document, 0 where none was found."""
        reciprocal: Float64[np.ndarray, " query"] = 1 / self.places[:, 0]
        return reciprocal

    def success_at_k(self, k: int) -> Float64[np.ndarray, " query"]:
        """Return 1 where a relevant document stands among the first `k`, else 0."""
        return (self.places[:, 0] <= k).astype(np.float64)
