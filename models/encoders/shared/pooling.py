"""Many states to one vector: the last, the mean, the largest, or a weighted sum by attention.

States stand time first; only the first `lengths` of each string count, whatever stands behind them.
Attention is Bao et al. 2018, equations 7 to 9: α = softmax(wᵀ tanh H), r = H αᵀ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


def last_state(
    states: Float[Tensor, "length batch dim"], lengths: Int[Tensor, " batch"], bidirectional: bool
) -> Float[Tensor, "batch dim"]:
    """Return the state that has read the whole string; `lengths` are at least 1.

    If `bidirectional`, forward states are in the first half of `dim` and backward ones in the
    second, whose last state stands at the first step.
    """
    place = (lengths - 1)[None, :, None].expand(1, -1, states.shape[2])
    last = states.gather(0, place)[0]
    if not bidirectional:
        return last
    return torch.cat([last.chunk(2, dim=1)[0], states[0].chunk(2, dim=1)[1]], dim=1)


def mean_state(
    states: Float[Tensor, "length batch dim"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch dim"]:
    """Average over each string; `lengths` are at least 1."""
    counted = inside(lengths, states.shape[0])[:, :, None]
    return (states * counted).sum(0) / lengths[:, None]


def largest_state(
    states: Float[Tensor, "length batch dim"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch dim"]:
    """Take the largest value of each dimension over each string; `lengths` are at least 1."""
    counted = inside(lengths, states.shape[0])[:, :, None]
    return states.masked_fill(~counted, -torch.inf).amax(0)


def attended_state(
    states: Float[Tensor, "length batch dim"],
    lengths: Int[Tensor, " batch"],
    weight: Float[Tensor, " dim"],
) -> Float[Tensor, "batch dim"]:
    """Sum the states H, each times its share α of the attention (equations 7 to 9).

    Zhou et al. 2016, whom the paper follows, end with a tanh; the paper does not.
    """
    scores = states.tanh() @ weight
    shares = scores.masked_fill(~inside(lengths, states.shape[0]), -torch.inf).softmax(0)
    return (states * shares[:, :, None]).sum(0)


def inside(lengths: Int[Tensor, " batch"], longest: int) -> Bool[Tensor, "longest batch"]:
    """Mark which of `longest` steps belong to each string."""
    return torch.arange(longest, device=lengths.device)[:, None] < lengths
