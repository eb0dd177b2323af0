"""Choosing dissimilar pairs inside a batch.

*Hard* mining keeps, for each string, the closest ones that share no occupation with it: the "more
advanced selection strategy" that Neculoiu et al. 2016 leave to future work (section 5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from torch import Tensor


def hardest(
    similarity: Float[Tensor, "batch batch"], dissimilar: Bool[Tensor, "batch batch"], count: int
) -> Bool[Tensor, "batch batch"]:
    """Keep the part of `dissimilar` that holds the `count` most similar strings of each row.

    Rows with fewer dissimilar strings keep all of them; of equal similarities any may be chosen.
    The choice itself carries no gradient.
    """
    below = similarity.detach().masked_fill(~dissimilar, -torch.inf)
    closest = below.topk(min(count, below.shape[1]), dim=1).indices
    return torch.zeros_like(dissimilar).scatter_(1, closest, True) & dissimilar
