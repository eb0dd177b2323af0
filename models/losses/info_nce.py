"""InfoNCE (van den Oord et al. 2018, equation 4) with cosine similarity and in-batch negatives.

Other names: NT-Xent (Chen et al. 2020, equation 1), N-pair loss, and multiple negatives ranking
loss, whose `scale` is 1/τ. A similar pair (l, r) costs

    -log( exp(s(l, r)/τ) / (exp(s(l, r)/τ) + Σ_j exp(s(l, j)/τ)) ),

s being the cosine and τ the temperature. The j are all strings of the batch, of both columns, that
are known negatives of l: what shares an occupation with l, or may do so, is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from models.network.loss import Loss, LossSettings, PairBatch, cosine_matrix, nothing

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@dataclass(frozen=True)
class InfoNceSettings(LossSettings):
    """How sharp the softmax is, and who is an anchor."""

    temperature: float
    """τ, above 0. Van den Oord et al. have a bilinear form without one; multiple negatives
    ranking's `scale` = 20 is 0.05."""
    symmetric: bool
    """Whether the right string of each pair is an anchor too; the paper: it is not."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; it has to be above 0")


def info_nce(
    embeddings: Float[Tensor, "batch dim"], batch: PairBatch, settings: InfoNceSettings
) -> Loss:
    """Return the mean over the pairs, and over both directions if `symmetric`; 0 or more.

    Embeddings are of any norm. Without a pair the loss and its gradient are 0. A pair whose anchor
    has no negative costs 0 and counts in the mean. If all embeddings are equal the gradient is
    zero, though this is no minimum. Other positives of an anchor are left out of a pair's
    denominator.

    `similar` is the mean of -s/τ; `dissimilar` is the mean logarithm of the denominators, the pair
    itself included.

    Raises:
        ValueError: the pairs have scores, and so may not be similar.
    """
    if not len(batch.left):
        return nothing(embeddings)
    if batch.scores is not None:
        raise ValueError("scored pairs may not be similar; choose a loss that reads their scores")
    logits = cosine_matrix(embeddings) / settings.temperature
    paired = torch.zeros_like(batch.negative_mask)
    paired[batch.left, batch.right] = True
    negatives = batch.negative_mask & ~(paired | paired.T)
    anchor, match = batch.left, batch.right
    if settings.symmetric:
        anchor, match = torch.cat([anchor, match]), torch.cat([match, anchor])
    own = logits[anchor, match]
    among = logits.masked_fill(~negatives, -torch.inf).logsumexp(1)
    # log(1 + Σ exp(s/τ - own)): gradients stay exact where the pair is far in front
    cost = functional.softplus(among[anchor] - own, threshold=40)
    return Loss(cost.mean(), -own.mean(), (cost + own).mean())


SETTINGS, LOSS = InfoNceSettings, info_nce
