"""The few titles whose reviews help most: a greedy choice that speaks for the rows of many others.

A reviewed title becomes an exemplar and votes on the titles near it. Beside the votes of the best
occupation of a title i, which scores s_i, a review of title j has the share

    k(i, j) = v / (1 + v),   v = `WEIGHT` · exp((cosine − s_i) / t)

at the temperature t of the score (`models/serving/scores.py`). If w_i rows of title i are
probably answered incorrectly, a choice S is worth

    F(S) = Σ_i w_i · log(1 + Σ_{j ∈ S} k(i, j)),

and the next title is the one that adds most; none is nearly one that was chosen before. What a
title adds only falls as others are chosen (F is submodular), so a gain that was computed before
bounds the present one, and few are computed again (lazy greedy, Minoux 1978). It costs a product of
all titles with the `CANDIDATES` heaviest, and one with `AT_ONCE` of them each time that the highest
bounds are renewed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Int64

WEIGHT = 0.3  # of the vote of a reviewed title, where an alias has 1 (`calibrate.label_weight`)
ALIKE = 0.9  # cosine from which a title is nearly another one
CANDIDATES = 10_000  # titles that may be chosen; all titles count in what a choice is worth
AT_ONCE, ROWS_AT_ONCE = 64, 4096  # titles whose shares are computed together, and those voted on


class Cover(NamedTuple):
    """Chosen titles, in their order, and what each one adds to those before it."""

    places: Int64[np.ndarray, " chosen"]
    gains: Float32[np.ndarray, " chosen"]


@dataclass(frozen=True)
class Coverage:
    """Titles to choose from, by descending weight."""

    embeddings: Float32[np.ndarray, "title dim"]  # of unit norm
    scores: Float32[np.ndarray, " title"]  # of the best occupation of each title
    weights: Float32[np.ndarray, " title"]  # rows probably answered incorrectly, above 0
    temperature: float  # t, above 0

    def __call__(self, reviewed: Float32[np.ndarray, "other dim"], budget: int) -> Cover:
        """Choose at most `budget` titles beside those that are reviewed anyway.

        Of equal gains the first place is chosen. They are fewer if all others are like these.
        """
        shares = np.zeros(len(self.weights), np.float32)
        is_open = np.ones(min(len(self.weights), CANDIDATES), bool)
        for start in range(0, len(reviewed), AT_ONCE):
            self._review(reviewed[start : start + AT_ONCE], shares, is_open)
        gains = np.zeros(len(is_open), np.float32)
        for start in range(0, len(gains), AT_ONCE):
            places = np.arange(start, min(start + AT_ONCE, len(gains)))
            gains[places] = self._gains(places, shares)
        computed = np.zeros(len(gains), np.int64)  # when so many titles were chosen
        chosen, added = list[int](), list[float]()
        while len(chosen) < budget and is_open.any():
            best = int(np.where(is_open, gains, -1).argmax())
            if computed[best] < len(chosen):
                highest = np.argsort(np.where(is_open, -gains, 1), kind="stable")[:AT_ONCE]
                places = np.sort(highest)
                gains[places] = self._gains(places, shares)
                computed[places] = len(chosen)
                continue
            chosen.append(best)
            added.append(float(gains[best]))
            is_open[best] = False
            self._review(self.embeddings[[best]], shares, is_open)
        return Cover(np.array(chosen, np.int64), np.array(added, np.float32))

    def _review(
        self,
        others: Float32[np.ndarray, "other dim"],
        shares: Float32[np.ndarray, " title"],
        is_open: Bool[np.ndarray, " candidate"],
    ) -> None:
        """Add the shares of reviewed titles, and close the candidates that are like one."""
        for rows, block in self._shares(others):
            shares[rows] += block.sum(axis=1)
        near = self.embeddings[: len(is_open)] @ others.T
        is_open &= (near < ALIKE).all(axis=1)

    def _gains(
        self, places: Int64[np.ndarray, " place"], shares: Float32[np.ndarray, " title"]
    ) -> Float32[np.ndarray, " place"]:
        """Return what candidates add to reviews that have these shares."""
        gains = np.zeros(len(places), np.float32)
        for rows, block in self._shares(self.embeddings[places]):
            block /= 1 + shares[rows, None]
            block += 1
            gains += self.weights[rows] @ np.log(block, out=block)
        return gains

    def _shares(
        self, others: Float32[np.ndarray, "other dim"]
    ) -> Iterator[tuple[slice, Float32[np.ndarray, "row other"]]]:
        """Yield k(i, j) of some titles after others, with their place."""
        scaled = np.ascontiguousarray(others.T) / np.float32(self.temperature)
        level = self.scores[:, None] / np.float32(self.temperature) - np.log(WEIGHT)
        for start in range(0, len(self.weights), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            block = self.embeddings[rows] @ scaled
            block -= level[rows]
            with np.errstate(over="ignore"):  # the share is 1 then
                np.exp(block, out=block)
            block += 1
            np.divide(-1, block, out=block)
            block += 1
            yield rows, block
