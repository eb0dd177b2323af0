"""InfoNCE (van den Oord et al. 2018, equation 4) with cosine similarity and in-batch negatives.

Other names: NT-Xent (Chen et al. 2020, equation 1), N-pair loss, and multiple negatives ranking
loss, whose `scale` is 1/τ. A similar pair (l, r) costs

    -log( exp(s(l, r)/τ) / (exp(s(l, r)/τ) + Σ_j exp(s(l, j)/τ)) ),

s being the cosine and τ the temperature. The j are all strings of the batch, of both columns, that
are known negatives of l: what shares an occupation with l, or may do so, is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from models.network.loss import Loss, LossSettings, PairBatch, nothing, unit

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@dataclass(frozen=True)
class InfoNceSettings(LossSettings):
    """How sharp the softmax is, and who is an anchor."""

    temperature: float  # τ, above 0; multiple negatives ranking's `scale` = 20 is 0.05
    symmetric: bool  # whether the right string of each pair is an anchor too; the paper: it is not

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}; it has to be above 0")


def info_nce(
    embeddings: Float[Tensor, "batch dim"], batch: PairBatch, settings: InfoNceSettings
) -> Loss:
    """Return the mean over the pairs, and over both directions if `symmetric`; 0 or more.

    Embeddings are of any norm. Without a pair the loss and its gradient are 0. A pair whose anchor
    has no negative costs 0 and counts. Other positives of an anchor are left out of a pair's
    denominator. `similar` is the mean of -s/τ; `dissimilar` is the mean logarithm of the
    denominators, the pair itself included. ValueError if the pairs have scores, and so may not be
    similar.
    """
    if not len(batch.left):
        return nothing(embeddings)
    if batch.scores is not None:
        raise ValueError("scored pairs may not be similar; choose a loss that reads their scores")
    directions = unit(embeddings)
    negatives = batch.negative_mask.clone()
    negatives[batch.left, batch.right] = False
    negatives[batch.right, batch.left] = False
    anchor, match = batch.left, batch.right
    if settings.symmetric:
        anchor, match = torch.cat([anchor, match]), torch.cat([match, anchor])
    own = (directions[anchor] * directions[match]).sum(1) / settings.temperature
    inputs = (directions, negatives, settings.temperature)
    among: Tensor = _LogSumOfNegatives.apply(*inputs)  # type: ignore[no-untyped-call]
    # log(1 + Σ exp(s/τ - own)): gradients stay exact where the pair is far in front
    cost = functional.softplus(among[anchor] - own, threshold=40)
    return Loss(cost.mean(), -own.mean(), (cost + own).mean())


class _LogSumOfNegatives(torch.autograd.Function):
    """log Σ exp(s(i, j)/τ) over the negatives j of each i, -inf without any.

    `negatives` is symmetric, so one matrix serves both ways. Powers are taken below the greatest
    cosine, 1. One that is 100 τ lower adds nothing.
    """

    @staticmethod
    def forward(ctx: Any, directions: Tensor, negatives: Tensor, temperature: float) -> Tensor:  # noqa: ANN401
        cosines = _product(directions, directions.T)
        powers = cosines.sub_(1).div_(temperature).exp_().mul_(negatives)
        sums = powers.sum(1)
        ctx.save_for_backward(directions, powers, sums)
        ctx.temperature = temperature
        return sums.log() + 1 / temperature

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401
        directions, powers, sums = ctx.saved_tensors
        share = torch.where(sums > 0, gradient / (sums * ctx.temperature), 0)
        return _product((share[:, None] + share).mul_(powers), directions), None, None


def _product(left: Tensor, right: Tensor) -> Tensor:
    """Multiply with numpy on a CPU: torch takes four times as long for the same bits everywhere."""
    if left.device.type != "cpu":
        return left @ right
    return torch.from_numpy(left.detach().numpy() @ right.detach().numpy())


SETTINGS, LOSS = InfoNceSettings, info_nce
