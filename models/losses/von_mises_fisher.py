"""The von Mises-Fisher loss of Kumar & Tsvetkov 2019, as Bhat et al. 2019 (section 2) give it.

The embedding û, *not* of unit norm, is the parameter of a density over directions u, with mean
direction û/‖û‖ and concentration κ = ‖û‖: p(u; û) = C_m(‖û‖) exp(ûᵀu), where in `dim` dimensions

    C_m(κ) = κ^(dim/2 - 1) / ((2π)^(dim/2) I_(dim/2 - 1)(κ))

with the modified Bessel function I of `models/losses/shared/bessel.py`. The loss is -log p of the
frozen target u, of unit norm, plus λ1‖û‖ ("NLLvMF_reg1").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from models.losses.shared.bessel import log_bessel_i_over_power
from models.network.loss import Loss, LossSettings, PairBatch, nothing

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@dataclass(frozen=True)
class VonMisesFisherSettings(LossSettings):
    """The weight of the norm."""

    needs_targets: ClassVar[bool] = True

    norm_penalty: float
    """λ1, 0 or more. With 0, what Bhat et al. compare to, the norm of an embedding that points at
    its target grows without end; else it stops near (dim - 1) / (2 λ1)."""

    def __post_init__(self) -> None:
        if not 0 <= self.norm_penalty < 1:
            value = self.norm_penalty
            raise ValueError(f"norm_penalty = {value}: 0 or more; from 1 on û goes to 0")


def von_mises_fisher(
    embeddings: Float[Tensor, "batch dim"], batch: PairBatch, settings: VonMisesFisherSettings
) -> Loss:
    """Return the loss of a batch, in nats, of either sign: the mean over pairs with a target.

    `similar` is -ûᵀu, `dissimilar` is -log C_m(‖û‖) + λ1‖û‖, which keeps the norm down. Without a
    target the loss is a zero that keeps a gradient path.

    Raises:
        ValueError: the batch has no targets, or the embeddings have less than 2 dimensions.
    """
    targets = batch.targets
    if targets is None:
        raise ValueError("von_mises_fisher needs `targets` in the batch: set train.compatible_with")
    kept = targets.rows >= 0
    predicted, target = embeddings[batch.left[kept]], targets.table[targets.rows[kept]]
    if not len(predicted):
        return nothing(embeddings)
    norm = predicted.norm(dim=1)
    similar = -(predicted * target).sum(1).mean()
    half = embeddings.shape[1] / 2
    minus_log_c = half * math.log(2 * math.pi) + log_bessel_i_over_power(half - 1, norm)
    dissimilar = (minus_log_c + settings.norm_penalty * norm).mean()
    return Loss(similar + dissimilar, similar, dissimilar)


SETTINGS, LOSS = VonMisesFisherSettings, von_mises_fisher
