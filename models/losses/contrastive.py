"""The contrastive loss of Neculoiu et al. 2016, equations 9 to 13, with three readings of 13.

E is the cosine similarity of a pair and m the margin. A similar pair costs (1 - E)², equation 12
without its factor. A dissimilar pair costs, by `penalty`:

- ``printed``: E² if E < m else 0, as equation 13 stands; no gradient on the hard negatives;
- ``flipped``: E² if E > m else 0, the usual reading;
- ``hinge``: max(0, E - m)², the same without the jump at m.

The loss is ``weight_similar`` · mean over similar + ``weight_dissimilar`` · mean over dissimilar
pairs. The paper's ¼ and its four dissimilar pairs to a similar one are the weights ¼ and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

from models.network.loss import Loss, LossSettings, PairBatch, unit

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from torch import Tensor


@dataclass(frozen=True)
class ContrastiveSettings(LossSettings):
    """Which penalty, its margin on cosine similarity, and the weights of the two terms."""

    penalty: Literal["printed", "flipped", "hinge"]
    margin: float
    weight_similar: float
    weight_dissimilar: float
    negatives: Literal["pairs", "batch", "hardest"]
    """Of the pairs file, all of the batch, or of these the closest ones of each string."""
    hardest: int  # how many of each string, with `negatives` = hardest

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -1 < self.margin < 1:
            raise ValueError(f"margin = {self.margin}: a cosine similarity, between -1 and 1")
        if min(self.weight_similar, self.weight_dissimilar) < 0 or self.hardest < 1:
            raise ValueError("weights must be 0 or more, and hardest 1 or more")

    @property
    def reads_dissimilar(self) -> bool:
        """With `negatives` = pairs."""
        return self.negatives == "pairs"


def contrastive(
    embeddings: Float[Tensor, "batch dim"], batch: PairBatch, settings: ContrastiveSettings
) -> Loss:
    """Return the loss of a batch; what people rejected always counts as dissimilar.

    Equal pairs of the file count as often as they stand in it with `negatives` = pairs, else once.
    """
    embeddings = unit(embeddings)
    if settings.negatives == "pairs":
        pairs = torch.cat([torch.stack([batch.left, batch.right], 1), batch.dissimilar])
        similar = torch.arange(len(pairs), device=pairs.device) < len(batch.left)
        similarity = (embeddings[pairs[:, 0]] * embeddings[pairs[:, 1]]).sum(1)
        return contrastive_loss(similarity, similar, ~similar, settings)
    similarity = embeddings @ embeddings.T
    similar = torch.zeros_like(batch.negative_mask)
    similar[batch.left, batch.right] = True
    dissimilar = batch.negative_mask
    if settings.negatives == "hardest":
        rejected = torch.zeros_like(batch.negative_mask)
        rejected[batch.dissimilar[:, 0], batch.dissimilar[:, 1]] = True
        rejected |= rejected.T.clone()
        others = batch.negative_mask & ~rejected
        dissimilar = rejected | hardest(similarity, others, settings.hardest)
    return contrastive_loss(similarity, similar, dissimilar, settings)


def hardest(
    similarity: Float[Tensor, "batch batch"], dissimilar: Bool[Tensor, "batch batch"], count: int
) -> Bool[Tensor, "batch batch"]:
    """Keep the `count` most similar strings of each row of `dissimilar` (hard mining).

    Neculoiu et al. 2016 leave it to future work (section 5). Rows with fewer keep all of them; of
    equal similarities any may be chosen. The choice carries no gradient.
    """
    below = similarity.detach().masked_fill(~dissimilar, -torch.inf)
    closest = below.topk(min(count, below.shape[1]), dim=1).indices
    return torch.zeros_like(dissimilar).scatter_(1, closest, True) & dissimilar


def dissimilar_penalty(
    similarity: Float[Tensor, "*pair"], penalty: str, margin: float
) -> Float[Tensor, "*pair"]:
    """Return the cost of each dissimilar pair, in [0, 1] for ``flipped`` and ``printed``."""
    if penalty == "hinge":
        return (similarity - margin).clamp(min=0).square()
    costs = similarity < margin if penalty == "printed" else similarity > margin
    return torch.where(costs, similarity.square(), 0.0)


def contrastive_loss(
    similarity: Float[Tensor, "*pair"],
    similar: Bool[Tensor, "*pair"],
    dissimilar: Bool[Tensor, "*pair"],
    settings: ContrastiveSettings,
) -> Loss:
    """Return the loss over the pairs that either mask names; a mask without a pair gives 0."""
    pull = settings.weight_similar * _masked_mean((1 - similarity).square(), similar)
    penalty = dissimilar_penalty(similarity, settings.penalty, settings.margin)
    push = settings.weight_dissimilar * _masked_mean(penalty, dissimilar)
    return Loss(pull + push, pull, push)


def _masked_mean(cost: Float[Tensor, "*pair"], mask: Bool[Tensor, "*pair"]) -> Float[Tensor, ""]:
    return (cost * mask).sum() / mask.sum().clamp(min=1)


SETTINGS, LOSS = ContrastiveSettings, contrastive
