"""The margin losses of Bhat et al. 2019 into a frozen space: equation 1 and section 3.2.

û is the embedding of a string and u the frozen embedding of its target, both of unit norm. The loss
is max(0, λ + u'ᵀû - uᵀû) with a negative u'. (Equation 1 prints both products as uᵀû; "closer to u
than to some negative sample u'" says which is which.) The negative, by `negatives`:

- ``projection`` (SMP): the unit vector along û - (ûᵀu)u, the part of û that is not along u;
- ``difference`` (SMD): the unit vector along û - u;
- ``random``: an embedding of the table, the loss being the mean over `draws` of them;
- ``most_informative`` (Lazaridou et al. 2015): the one closest to û - u.

The first two are constants without gradient. At û = u they are 0/0, and defined as the zero vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torch.nn import functional

from models.network import loss

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from torch import Tensor

Negatives = Literal["projection", "difference", "random", "most_informative"]
SHORTEST = 1e-5  # a shorter difference of unit vectors is mostly rounding: it fades to zero


@dataclass(frozen=True)
class FrozenMarginSettings(loss.LossSettings):
    """The margin, and what the negative is."""

    needs_targets: ClassVar[bool] = True

    margin: float  # λ on cosine similarity, above 0. The paper tunes it and does not give it
    negatives: Negatives
    draws: int  # k random draws, with `negatives` = random; the paper's is 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.margin <= 2:
            raise ValueError(f"margin = {self.margin}: choose above 0 and at most 2")
        if self.draws < 1:
            raise ValueError(f"draws = {self.draws}: choose 1 or more")


def frozen_margin(
    embeddings: Float[Tensor, "batch dim"], batch: loss.PairBatch, settings: FrozenMarginSettings
) -> loss.Loss:
    """Return the loss of a batch, in [0, 2 + λ]: the mean over pairs whose `left` has a target.

    Pairs that need a negative of the table and have none are left out; without a pair the loss is a
    zero that keeps a gradient path. `similar` is the share λ - uᵀû, and `dissimilar` is u'ᵀû.
    """
    targets = batch.targets
    if targets is None:
        raise ValueError("frozen_margin needs `targets` in the batch: set train.compatible_with")
    kept = targets.rows >= 0
    left, rows = batch.left[kept], targets.rows[kept]
    allowed = None
    if settings.negatives in ("random", "most_informative"):
        allowed = targets.negative_mask()[kept].scatter(1, rows[:, None], False)
        usable = allowed.any(1)
        left, rows, allowed = left[usable], rows[usable], allowed[usable]
    if not len(left):
        return loss.nothing(embeddings)
    predicted, target = loss.unit(embeddings[left]), targets.table[rows]
    negative = negative_vectors(predicted.detach(), target, targets.table, allowed, settings)
    near = (predicted * target).sum(1, keepdim=True)
    far = (predicted[:, None] * negative).sum(2)
    return loss.hinge(near, far, settings.margin)


def negative_vectors(
    predicted: Float[Tensor, "row dim"],
    target: Float[Tensor, "row dim"],
    table: Float[Tensor, "target dim"],
    allowed: Bool[Tensor, "row target"] | None,
    settings: FrozenMarginSettings,
) -> Float[Tensor, "row draw dim"]:
    """Return u' of each row: of the table those that are `allowed`; without these synthetic."""
    if allowed is not None and settings.negatives == "random":
        return table[loss.drawn(allowed, settings.draws)]
    if allowed is not None:
        return table[loss.most_informative(predicted, target, table, allowed)][:, None]
    is_projection = settings.negatives == "projection"
    along = (predicted * target).sum(1, keepdim=True) * target if is_projection else target
    return functional.normalize(predicted - along, dim=-1, eps=SHORTEST)[:, None]


SETTINGS, LOSS = FrozenMarginSettings, frozen_margin
