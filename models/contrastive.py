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
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from torch import Tensor


@dataclass(frozen=True)
class ContrastiveSettings:
    """Which penalty, its margin on cosine similarity, and the weights of the two terms."""

    penalty: Literal["printed", "flipped", "hinge"]
    margin: float
    weight_similar: float
    weight_dissimilar: float
    negatives: Literal["pairs", "batch", "hardest"]
    """Dissimilar pairs: those of the pairs file; all of the batch that share no occupation; or of
    these the closest ones of each string."""
    hardest: int
    """How many of each string, with `negatives` = hardest."""


class Loss(NamedTuple):
    """The loss and its two weighted terms, each a scalar."""

    total: Float[Tensor, ""]
    similar: Float[Tensor, ""]
    dissimilar: Float[Tensor, ""]


def dissimilar_penalty(
    similarity: Float[Tensor, "*pair"], penalty: str, margin: float
) -> Float[Tensor, "*pair"]:
    """Cost of each dissimilar pair, in [0, 1] for ``flipped`` and ``printed``."""
    if penalty == "printed":
        return torch.where(similarity < margin, similarity.square(), 0.0)
    if penalty == "flipped":
        return torch.where(similarity > margin, similarity.square(), 0.0)
    if penalty == "hinge":
        return (similarity - margin).clamp(min=0).square()
    raise ValueError(f"penalty {penalty!r}: choose printed, flipped or hinge")


def contrastive_loss(
    similarity: Float[Tensor, "*pair"],
    similar: Bool[Tensor, "*pair"],
    dissimilar: Bool[Tensor, "*pair"],
    settings: ContrastiveSettings,
) -> Loss:
    """The loss over the pairs that either mask names; pairs in neither are left out.

    A mask without a pair gives a zero term that keeps a gradient path.
    """
    alike = _masked_mean((1 - similarity).square(), similar)
    apart = _masked_mean(
        dissimilar_penalty(similarity, settings.penalty, settings.margin), dissimilar
    )
    alike, apart = settings.weight_similar * alike, settings.weight_dissimilar * apart
    return Loss(alike + apart, alike, apart)


def _masked_mean(cost: Float[Tensor, "*pair"], mask: Bool[Tensor, "*pair"]) -> Float[Tensor, ""]:
    return (cost * mask).sum() / mask.sum().clamp(min=1)
