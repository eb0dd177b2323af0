"""Squared error between a predicted and a given similarity (Mueller & Thyagarajan 2016).

The prediction, in [0, 1], is g = exp(-‖a - b‖₁) of the embeddings as they come (Bao et al. 2018,
section III.A), or (1 + cosine) / 2; the errors are averaged. Scores of another range are brought to
[0, 1] before. A similar pair without a score has 1, a dissimilar one of the file 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import torch

from models.network.loss import Loss, LossSettings, PairBatch, cosine, exp_manhattan

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@dataclass(frozen=True)
class RegressionSettings(LossSettings):
    """How the score of a pair is predicted."""

    reads_scores: ClassVar[bool] = True
    # one for all settings of the other losses, a choice in these
    similarity: Literal["exp_manhattan", "cosine"]  # type: ignore[misc]
    """exp(-‖a - b‖₁), which also sees the norms; or (1 + cosine) / 2, which does not."""

    @property
    def reads_dissimilar(self) -> bool:
        """Always: without dissimilar pairs, equal embeddings would cost nothing."""
        return True


def regression(
    embeddings: Float[Tensor, "batch dim"], batch: PairBatch, settings: RegressionSettings
) -> Loss:
    """Return the mean of (prediction - score)² over all pairs, in [0, 1].

    Its terms come from `left` and `right`, scored or similar, and from `dissimilar`. Without a
    pair, or with all embeddings equal, the gradient is zero.
    """
    left, right = torch.cat([torch.stack([batch.left, batch.right], 1), batch.dissimilar]).T
    if settings.similarity == "cosine":
        predicted = (1 + cosine(embeddings[left], embeddings[right])) / 2
    else:
        predicted = exp_manhattan(embeddings[left], embeddings[right])
    scores = torch.zeros_like(predicted)
    scores[: len(batch.left)] = 1 if batch.scores is None else batch.scores.to(scores)
    errors = (predicted - scores).square() / len(scores)
    pull, push = errors[: len(batch.left)].sum(), errors[len(batch.left) :].sum()
    return Loss(pull + push, pull, push)


SETTINGS, LOSS = RegressionSettings, regression
