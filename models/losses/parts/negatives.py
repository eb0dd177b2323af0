"""Choosing the negative of each row among the candidates that a mask allows.

`max` of Wieting et al. 2016 (A.1) is `highest` of the cosine similarities; `semihard` is of Schroff
et al. 2015 (FaceNet, section 3.2), `most_informative` of Lazaridou et al. 2015 as Bhat et al. 2019
(section 3) describe it. Each row must allow one candidate at least; of equal scores any may be
chosen. What comes back are places, so that the choice carries no gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from models.network.loss import unit

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


def highest(
    scores: Float[Tensor, "row candidate"], allowed: Bool[Tensor, "row candidate"]
) -> Int[Tensor, " row"]:
    """Choose the allowed candidate with the highest score."""
    return scores.masked_fill(~allowed, -torch.inf).argmax(1)


def semihard(
    similarity: Float[Tensor, "row candidate"],
    positive: Int[Tensor, " row"],
    allowed: Bool[Tensor, "row candidate"],
) -> Int[Tensor, " row"]:
    """Choose the most similar candidate among those less similar than the positive.

    FaceNet asks that it be within the margin as well. That needs no rule of its own: if any is
    within the margin then so is this one, and if none is, every choice costs 0. Where all are as
    similar as the positive or more, it is the least similar candidate.

    Args:
        similarity: of the anchor to each candidate, the positive among them.
        positive: its column.
        allowed: which candidates are negatives.
    """
    below = allowed & (similarity < similarity.gather(1, positive[:, None]))
    return torch.where(below.any(1), highest(similarity, below), highest(-similarity, allowed))


def most_informative(
    predicted: Float[Tensor, "row dim"],
    target: Float[Tensor, "row dim"],
    candidates: Float[Tensor, "candidate dim"],
    allowed: Bool[Tensor, "row candidate"],
) -> Int[Tensor, " row"]:
    """Choose the candidate of the highest cosine with û - u.

    It is close to the prediction and far from the target. All vectors are of unit norm. Where û = u
    there is no direction, and any candidate is chosen.
    """
    return highest(unit(predicted - target) @ candidates.T, allowed)


def drawn(allowed: Bool[Tensor, "row candidate"], count: int) -> Int[Tensor, "row count"]:
    """Draw `count` of each row, uniform with replacement, by torch's global generator."""
    return torch.multinomial(allowed.float(), count, replacement=True)
