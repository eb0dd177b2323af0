"""Who is whose positive and negative among the strings of a batch, for the in-batch losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from models.network.loss import PairBatch

if TYPE_CHECKING:
    from jaxtyping import Bool
    from torch import Tensor


def positives_and_negatives(
    batch: PairBatch,
) -> tuple[Bool[Tensor, "batch batch"], Bool[Tensor, "batch batch"]]:
    """Mark what each string (row) is pulled to and pushed from; symmetric, never both true.

    Positives are the strings that it is paired with. Negatives are those known to be apart from it;
    a pair of the batch that is also known to be apart counts as a pair.

    Raises:
        ValueError: the pairs have scores, and so may not be similar.
    """
    if batch.scores is not None:
        raise ValueError("scored pairs may not be similar; choose a loss that reads their scores")
    paired = torch.zeros_like(batch.apart)
    paired[batch.left, batch.right] = True
    positives = paired | paired.T
    return positives, batch.apart & ~positives
