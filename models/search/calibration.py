"""From scores to confidence: at each level of the hierarchy, the chance that the answer is right.

The chances of all occupations under the answer's code are added up to p (`exemplars.posterior`);
the confidence is σ(a + b·log(p/(1 − p)) + w·e), where e is what the words say, with a, b and w of
the level fitted on inputs that nothing was trained on (Platt 1999). A broader code is never less
certain than a narrower one below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from models.search.exemplars import posterior
from models.search.kernels import kernels_at_hand

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64, Int, Int64

EDGE = 1e-6
"""Chances are kept this far from 0 and 1, where the logarithm ends."""


@dataclass(frozen=True)
class Levels:
    """The hierarchy as codes by occupation: one row a level, broad to narrow, the occupation last.

    Attributes:
        codes: which code of its level each occupation is under; 0, 1, 2 … within a level.
    """

    codes: Int64[np.ndarray, "level occupation"]

    @classmethod
    def of(cls, hierarchy: Sequence[Sequence[str]]) -> Levels:
        """Read the codes above each occupation, broad to narrow; short ones repeat their last."""
        depth = max(map(len, hierarchy), default=0)
        rows = []
        for level in range(depth):
            names = [codes[min(level, len(codes) - 1)] if codes else "" for codes in hierarchy]
            rows.append(np.unique(np.array(names, object), return_inverse=True)[1])
        return cls(np.array([*rows, np.arange(len(hierarchy))], np.int64))

    def __len__(self) -> int:
        return len(self.codes)

    def shares(
        self,
        scores: Float32[np.ndarray, "query occupation"],
        temperature: float,
        answers: Int[np.ndarray, " query"],
    ) -> Float64[np.ndarray, "query level"]:
        """Add up the chances of all occupations under the answer's code, level by level."""
        made, (members, starts) = np.empty((len(scores), len(self))), self._members
        if kernels := kernels_at_hand():
            own, t = np.ascontiguousarray(answers, np.int64), np.float32(temperature)
            kernels.add_shares(scores, t, own, self.codes, members, starts, made)
            return made
        for row, chances in enumerate(posterior(scores, temperature)):
            for level, code in enumerate(self.codes[:, answers[row]].tolist()):
                alike = members[level, starts[level, code] : starts[level, code + 1]]
                made[row, level] = chances[alike].sum()
        return made

    @cached_property
    def _members(
        self,
    ) -> tuple[Int64[np.ndarray, "level occupation"], Int64[np.ndarray, "level code+1"]]:
        """Occupations by their codes at each level, and where those of each code begin."""
        members = np.argsort(self.codes, axis=1, kind="stable")
        ranked = np.take_along_axis(self.codes, members, axis=1)
        codes = np.arange(self.codes.max(initial=-1) + 2)
        return members, np.stack([np.searchsorted(level, codes) for level in ranked])

    def agree(
        self, answers: Int[np.ndarray, " query"], gold: Int[np.ndarray, " query"]
    ) -> Bool[np.ndarray, "query level"]:
        """Say at which levels answer and gold are under one code."""
        same: Bool[np.ndarray, "query level"] = (self.codes[:, answers] == self.codes[:, gold]).T
        return same


@dataclass(frozen=True)
class Calibration:
    """Turns chances into confidences.

    Attributes:
        temperature: of the softmax over the scores.
        offsets: a of each level.
        slopes: b of each level.
        ood_threshold: a title whose `OodScore` is higher is not a job title.
        weights: of each level, of what the words say (`models/search/words/word_evidence.py`).
        exact: how often a title of the taxonomy is right, at each level; empty if unknown.
        agreement: how often two labels of one title agree, at each level; empty if unknown.
    """

    temperature: float
    offsets: Sequence[float]
    slopes: Sequence[float]
    ood_threshold: float
    weights: Sequence[Sequence[float]] = ()
    exact: Sequence[float] = ()
    agreement: Sequence[float] = ()

    def __call__(
        self,
        shares: Float64[np.ndarray, "query level"],
        words: Float64[np.ndarray, "query feature"] | None = None,
    ) -> Float64[np.ndarray, "query level"]:
        """Return the confidence at every level."""
        offsets, slopes, weights = self._fitted
        logits = offsets + slopes * logit(shares)
        if words is not None and len(weights):
            logits += words @ weights.T
        chances = 1 / (1 + np.exp(-logits))
        rising = np.maximum.accumulate(chances[:, ::-1], axis=1)  # from the occupation upwards
        confidences: Float64[np.ndarray, "query level"] = rising[:, ::-1]
        return confidences

    @cached_property
    def _fitted(self) -> list[Float64[np.ndarray, "level *"]]:
        return [*map(np.array, (self.offsets, self.slopes, self.weights))]


def logit(chances: Float64[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Return log(p/(1 − p)), finite at 0 and 1 too."""
    inside = np.minimum(np.maximum(chances, EDGE), 1 - EDGE)
    logits: Float64[np.ndarray, "*shape"] = np.log(inside) - np.log(1 - inside)
    return logits
