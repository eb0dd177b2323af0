"""Stacked LSTMs over padded strings, one way or both: steps in, hidden states out.

The equations are torch's: 1 to 6 of Neculoiu et al. 2016 and of Bao et al. 2018. Each way of a
layer is a fused LSTM over padded strings; the second way reads each string reversed within its
length, so padding stands behind every string and is never read. On a CPU this is nearly twice as
fast as packed sequences. An `nn.LSTM` only holds the parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from models.encoders.shared.pooling import inside

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def lstm_weights(lstm: nn.LSTM, dropout: float = 0.0) -> dict[str, Tensor]:
    """Name the parameters of `lstm`, in training with hidden-to-hidden weights dropped.

    Draw them once a batch: `dropout` is the probability with which a weight is zero for all of it
    (weight dropping; see `docs/design/training.md`, "Recurrent dropout").
    """
    dropped = bool(dropout) and lstm.training
    return {
        name: functional.dropout(weight, dropout)
        if dropped and name.startswith("weight_hh")
        else weight
        for name, weight in lstm.named_parameters()
    }


def run_layers(
    lstm: nn.LSTM,
    weights: dict[str, Tensor],
    steps: Float[Tensor, "length batch width"],
    lengths: Int[Tensor, " batch"],
    dropout: float = 0.0,
) -> Float[Tensor, "length batch states"]:
    """Return the last layer's hidden states at each step, forward ones before backward ones.

    `lengths` are at least 1; states behind a string's end mean nothing. `dropout`, in training, is
    the probability with which a state between two layers is zero.
    """
    mirrored = _mirrored(lengths, steps.shape[0]) if lstm.bidirectional else None
    for layer in range(lstm.num_layers):
        if layer:
            steps = functional.dropout(steps, dropout, lstm.training)
        forward = _one_way(lstm, weights, steps, f"l{layer}")
        if mirrored is None:
            steps = forward
        else:
            backward = _one_way(lstm, weights, _reordered(steps, mirrored), f"l{layer}_reverse")
            steps = torch.cat([forward, _reordered(backward, mirrored)], dim=2)
    return steps


def _one_way(
    lstm: nn.LSTM,
    weights: dict[str, Tensor],
    steps: Float[Tensor, "length batch width"],
    suffix: str,
) -> Float[Tensor, "length batch hidden"]:
    """Run one LSTM over the steps, from a state of zeros; gates by torch."""
    start = steps.new_zeros(1, steps.shape[1], lstm.hidden_size)
    own = [weights[f"{kind}_{suffix}"] for kind in KINDS]
    states: Tensor = torch.lstm(
        steps, [start, start], own, True, 1, 0.0, lstm.training, False, False
    )[0]
    return states


def _mirrored(lengths: Int[Tensor, " batch"], longest: int) -> Int[Tensor, "longest batch 1"]:
    """Number the places of each string from its last step to its first; padding stays in place."""
    step = torch.arange(longest, device=lengths.device)[:, None]
    return torch.where(inside(lengths, longest), lengths - 1 - step, step)[:, :, None]


def _reordered(
    steps: Float[Tensor, "length batch width"], places: Int[Tensor, "length batch 1"]
) -> Float[Tensor, "length batch width"]:
    return steps.gather(0, places.expand(-1, -1, steps.shape[2]))
