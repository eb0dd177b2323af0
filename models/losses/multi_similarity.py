"""The multi-similarity loss of Wang et al. 2019 (CVPR): mining (equations 7, 8), then equation 10.

S is the cosine similarity. Of a string i mining keeps the negatives with S > min over its
positives - ε, and the positives with S < max over its negatives + ε. Over those kept it costs

    1/α · log(1 + Σ_p exp(-α(S_ip - λ))) + 1/β · log(1 + Σ_n exp(β(S_in - λ))).

Positives are the strings that this batch pairs with i, negatives those known to be apart from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from models.losses.parts.members import positives_and_negatives
from models.network.loss import Loss, LossSettings, PairBatch, nothing
from models.network.similarity import cosine_matrix

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from torch import Tensor


@dataclass(frozen=True)
class MultiSimilaritySettings(LossSettings):
    """Weights of the pairs by their similarity, and the margin of mining."""

    alpha: float
    """α, above 0: how much more the farthest positives weigh; paper: 2."""
    beta: float
    """β, above 0: how much more the closest negatives weigh; paper: 50."""
    base: float
    """λ, the cosine similarity from which pairs are judged; paper: 1; the authors' code: 0.5."""
    epsilon: float
    """ε of mining; the higher, the more pairs are kept, and above 2 all are; paper: 0.1."""

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it has to be above 0")


def multi_similarity(
    embeddings: Float[Tensor, "batch dim"], batch: PairBatch, settings: MultiSimilaritySettings
) -> Loss:
    """Return the mean over the strings with a positive (in the paper all have one), 0 or more.

    Embeddings are of any norm. Without a pair the loss is 0, and so is the gradient. A string
    without a negative keeps no positive and costs 0. Mining carries no gradient; the loss jumps
    where a pair comes to be kept. If all embeddings are equal everything is kept and costs much,
    but the gradient is zero, as each cosine is at its maximum: this is no minimum, but the loss
    cannot leave it by itself.
    """
    positives, negatives = positives_and_negatives(batch)
    anchors = positives.any(1)
    if not anchors.any():
        return nothing(embeddings)
    similarity = cosine_matrix(embeddings)[anchors]
    positives, negatives = mined(
        similarity.detach(), positives[anchors], negatives[anchors], settings.epsilon
    )
    above = similarity - settings.base
    alike = _log_one_plus(-settings.alpha * above, positives).mean() / settings.alpha
    apart = _log_one_plus(settings.beta * above, negatives).mean() / settings.beta
    return Loss(alike + apart, alike, apart)


def mined(
    similarity: Float[Tensor, "anchor batch"],
    positives: Bool[Tensor, "anchor batch"],
    negatives: Bool[Tensor, "anchor batch"],
    epsilon: float,
) -> tuple[Bool[Tensor, "anchor batch"], Bool[Tensor, "anchor batch"]]:
    """Select the positives and the negatives of each row that equations 8 and 7 keep.

    A row without a positive keeps no negative, and one without a negative keeps no positive.
    """
    farthest = similarity.masked_fill(~positives, torch.inf).amin(1, keepdim=True)
    closest = similarity.masked_fill(~negatives, -torch.inf).amax(1, keepdim=True)
    return (
        positives & (similarity < closest + epsilon),
        negatives & (similarity > farthest - epsilon),
    )


def _log_one_plus(
    exponents: Float[Tensor, "anchor batch"], kept: Bool[Tensor, "anchor batch"]
) -> Float[Tensor, " anchor"]:
    """Compute log(1 + Σ exp) over what is kept of each row; the 1 is a column of zeros."""
    return functional.pad(exponents.masked_fill(~kept, -torch.inf), (1, 0)).logsumexp(1)


SETTINGS = MultiSimilaritySettings
LOSS = multi_similarity
