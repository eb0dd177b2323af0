"""The supervised contrastive loss of Khosla et al. 2020 (NeurIPS), L_out, equation 2; "SupCon".

A string i of the batch costs, z being the embeddings at unit norm and τ the temperature,

    -1/|P(i)| · Σ_{p ∈ P(i)} log( exp(z_i·z_p / τ) / Σ_{a ∈ A(i)} exp(z_i·z_a / τ) ).

P(i) are the strings that this batch pairs with i, whichever side i is on and however often. A(i),
in the paper all but i, is here P(i) and the strings known to be apart from i: two strings that are
neither may be of one occupation, and stay out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from models.losses.parts.members import positives_and_negatives
from models.network.loss import Loss, LossSettings, PairBatch, nothing
from models.network.similarity import cosine_matrix

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@dataclass(frozen=True)
class SupervisedContrastiveSettings(LossSettings):
    """How sharp the softmax is."""

    temperature: float
    """τ, above 0, cosine similarity being divided by it; paper: 0.1."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; it has to be above 0")


def supervised_contrastive(
    embeddings: Float[Tensor, "batch dim"],
    batch: PairBatch,
    settings: SupervisedContrastiveSettings,
) -> Loss:
    """Return the mean over the strings with a positive (the paper: the sum), 0 or more.

    Embeddings are of any norm. Without a pair the loss is 0, and so is the gradient. A string with
    one positive and no negative costs 0. If all embeddings are equal a string costs
    log(|P(i)| + negatives), and the gradient is zero, as each cosine is at its maximum: this is no
    minimum, but the loss cannot leave it by itself.

    Where every string is in one pair this is `info_nce` with `symmetric`. With several positives
    these stand in each other's denominators, and the mean is over strings, not over pairs.

    Of the terms, `similar` is the mean of -z_i·z_p / τ and below 0 where pairs are alike;
    `dissimilar` is the mean logarithm of the denominators, positives included.
    """
    positives, negatives = positives_and_negatives(batch)
    anchors = positives.any(1)
    if not anchors.any():
        return nothing(embeddings)
    logits = (cosine_matrix(embeddings) / settings.temperature)[anchors]
    positives, negatives = positives[anchors], negatives[anchors]
    alike = (logits * positives).sum(1) / positives.sum(1)
    # each row holds a positive, so that no row is -inf throughout
    among = logits.masked_fill(~(positives | negatives), -torch.inf).logsumexp(1)
    return Loss((among - alike).mean(), -alike.mean(), among.mean())


SETTINGS = SupervisedContrastiveSettings
LOSS = supervised_contrastive
