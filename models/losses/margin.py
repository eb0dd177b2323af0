"""The margin loss of Wieting et al. 2016 (CHARAGRAM), equation 2, on pairs and their negatives.

A similar pair ⟨x1, x2⟩ costs max(0, δ - cos(x1, x2) + cos(x1, t1)), and the same once more from the
side of x2 with t2, where t1 and t2 are negatives out of the batch (A.1). The loss is the mean over
these terms, half of the paper's. λ‖θ‖² is the optimizer's weight decay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

from models.network import loss

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor

Negatives = Literal["random", "max", "mix", "semihard", "most_informative"]
CLOSEST_SHARE = {"max": 1.0, "mix": 0.5, "random": 0.0}


@dataclass(frozen=True)
class MarginSettings(loss.LossSettings):
    """The margin, and how the negative of each side of a pair is chosen."""

    margin: float  # δ on cosine similarity, above 0; the paper's is 0.4
    negatives: Negatives  # `mix`: `max` half of the time, else `random`; or functions below

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.margin <= 2:
            raise ValueError(f"margin = {self.margin}: choose above 0 and at most 2")


def margin(
    embeddings: Float[Tensor, "batch dim"], batch: loss.PairBatch, settings: MarginSettings
) -> loss.Loss:
    """Return the loss of a batch, in [0, 2 + δ].

    A side without a known negative is left out; without any side the loss is a zero that keeps a
    gradient path. `similar` is the share δ - cos(x1, x2), and `dissimilar` is cos(x1, t1).
    """
    anchor, positive = torch.cat([batch.left, batch.right]), torch.cat([batch.right, batch.left])
    allowed = batch.negative_mask[anchor].scatter(1, torch.stack([anchor, positive], 1), False)
    usable = allowed.any(1)
    anchor, positive, allowed = anchor[usable], positive[usable], allowed[usable]
    if not len(anchor):
        return loss.nothing(embeddings)
    points = loss.unit(embeddings)
    negative = _chosen(points.detach(), anchor, positive, allowed, settings.negatives)
    near = (points[anchor] * points[positive]).sum(1)
    far = (points[anchor] * points[negative]).sum(1)
    return loss.hinge(near, far, settings.margin)


def semihard(
    similarity: Float[Tensor, "row candidate"],
    positive: Int[Tensor, " row"],
    allowed: Bool[Tensor, "row candidate"],
) -> Int[Tensor, " row"]:
    """Choose the most similar candidate among those less similar than the `positive` column.

    It is of Schroff et al. 2015 (FaceNet, section 3.2), whose margin needs no rule of its own.
    Where none is less similar, it is the least similar candidate.
    """
    below = allowed & (similarity < similarity.gather(1, positive[:, None]))
    closest, farthest = loss.highest(similarity, below), loss.highest(-similarity, allowed)
    return torch.where(below.any(1), closest, farthest)


def _chosen(
    points: Float[Tensor, "batch dim"],
    anchor: Int[Tensor, " side"],
    positive: Int[Tensor, " side"],
    allowed: Bool[Tensor, "side batch"],
    negatives: Negatives,
) -> Int[Tensor, " side"]:
    if negatives == "most_informative":
        return loss.most_informative(points[anchor], points[positive], points, allowed)
    similarity = points[anchor] @ points.T
    if negatives == "semihard":
        return semihard(similarity, positive, allowed)
    closest = torch.rand(len(anchor), device=points.device) < CLOSEST_SHARE[negatives]
    return torch.where(closest, loss.highest(similarity, allowed), loss.drawn(allowed, 1)[:, 0])


SETTINGS, LOSS = MarginSettings, margin
