"""Choosing the negative of each row among the candidates that a mask allows.

`max` of Wieting et al. 2016 (A.1) is `highest` of the cosine similarities; `semihard` is of Schroff
et al. 2015 (FaceNet, section 3.2), `most_informative` of Lazaridou et al. 2015 as Bhat et al. 2019
(section 3) describe it. Each row must allow one candidate at least; of equal scores any may be
chosen. Places are returned, so that the choice carries no gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import torch

from models.network.loss import unit

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


def check_margin(margin: float, negatives: str, choices: Any) -> None:  # noqa: ANN401
    """Check the settings of a margin on cosine similarity; `choices` is a `Literal`.

    Raises:
        ValueError: a value cannot be; the message says what to choose.
    """
    if not 0 < margin <= 2:
        raise ValueError(f"margin = {margin}: choose above 0 and at most 2")
    if negatives not in get_args(choices):
        raise ValueError(f"negatives {negatives!r}: choose {', '.join(get_args(choices))}")


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
    """Choose the most similar candidate among those less similar than the `positive` column.

    FaceNet's margin needs no rule of its own: if any is within it then so is this one, and if none
    is, every choice costs 0. Where none is less similar, it is the least similar candidate.
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


def hardest(
    similarity: Float[Tensor, "batch batch"], dissimilar: Bool[Tensor, "batch batch"], count: int
) -> Bool[Tensor, "batch batch"]:
    """Keep the part of `dissimilar` that holds the `count` most similar strings of each row.

    Hard mining is the "more advanced selection strategy" that Neculoiu et al. 2016 leave to future
    work (section 5). Rows with fewer dissimilar strings keep all of them; of equal similarities any
    may be chosen. The choice itself carries no gradient.
    """
    below = similarity.detach().masked_fill(~dissimilar, -torch.inf)
    closest = below.topk(min(count, below.shape[1]), dim=1).indices
    return torch.zeros_like(dissimilar).scatter_(1, closest, True) & dissimilar
