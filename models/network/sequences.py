"""Parts that several encoders share: LSTMs over padded strings, pooling, batches in pieces.

The LSTM's equations are torch's: 1 to 6 of Neculoiu et al. 2016 and of Bao et al. 2018. Each way of
a layer is a fused LSTM; the second reads each string reversed within its length, so padding is
never read. On a CPU this is nearly twice as fast as packed sequences. States stand time first;
pooling reads only the first `lengths` of each string, 1 or more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
PIECE = 40  # strings of a CPU batch that are padded to one length


def in_pieces(
    embed: Callable[[Tensor, Tensor], Tensor],
    ids: Int[Tensor, "batch length"],
    lengths: Int[Tensor, " batch"],
) -> Float[Tensor, "batch dim"]:
    """Return the rows of `embed(ids, lengths)`: one a string, which depends on no other.

    The rows are sorted by length and cut into pieces, each padded to its own longest string. A GPU
    takes the batch whole, and so does a traced network, whose graph may not depend on lengths.
    """
    if not len(ids):
        return embed(ids.new_zeros(1, 1), lengths.new_ones(1))[:0]
    if ids.is_cuda or torch.jit.is_tracing():  # type: ignore[attr-defined,no-untyped-call]
        return embed(ids, lengths)
    order = lengths.argsort(stable=True)
    pieces = order.tensor_split(-(-len(ids) // PIECE))
    embedded = [embed(ids[rows, : int(lengths[rows[-1]])], lengths[rows]) for rows in pieces]
    return torch.cat(embedded)[order.argsort()]


def lstm_weights(lstm: nn.LSTM, dropout: float = 0.0) -> dict[str, Tensor]:
    """Name the parameters of `lstm`, in training with hidden-to-hidden weights dropped.

    Draw them once a batch: see `docs/design/training.md`, "Recurrent dropout".
    """
    weights: dict[str, Tensor] = dict(lstm.named_parameters())
    if dropout and lstm.training:
        for name in weights:
            if name.startswith("weight_hh"):
                weights[name] = functional.dropout(weights[name], dropout)
    return weights


def run_layers(
    lstm: nn.LSTM,
    weights: dict[str, Tensor],
    steps: Float[Tensor, "length batch width"],
    lengths: Int[Tensor, " batch"],
    dropout: float = 0.0,
) -> Float[Tensor, "length batch states"]:
    """Return the last layer's hidden states at each step, forward ones before backward ones.

    States behind a string's end mean nothing. `dropout`, in training: of states between layers.
    """
    step = torch.arange(steps.shape[0], device=lengths.device)[:, None]
    mirrored = torch.where(step < lengths, lengths - 1 - step, step)[:, :, None]
    for layer in range(lstm.num_layers):
        if layer:
            steps = functional.dropout(steps, dropout, lstm.training)
        forward = _one_way(lstm, weights, steps, f"l{layer}")
        if not lstm.bidirectional:
            steps = forward
            continue
        backward = _one_way(lstm, weights, _reordered(steps, mirrored), f"l{layer}_reverse")
        steps = torch.cat([forward, _reordered(backward, mirrored)], dim=2)
    return steps


def last_state(
    states: Float[Tensor, "length batch dim"], lengths: Int[Tensor, " batch"], bidirectional: bool
) -> Float[Tensor, "batch dim"]:
    """Return the state that has read the whole string.

    If `bidirectional`, backward states are the second half of `dim`, their last at the first step.
    """
    position = (lengths - 1)[None, :, None].expand(1, -1, states.shape[2])
    last = states.gather(0, position)[0]
    if not bidirectional:
        return last
    return torch.cat([last.chunk(2, dim=1)[0], states[0].chunk(2, dim=1)[1]], dim=1)


def mean_state(
    states: Float[Tensor, "length batch dim"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch dim"]:
    """Average over each string."""
    counted = inside(lengths, states.shape[0])[:, :, None]
    return (states * counted).sum(0) / lengths[:, None]


def largest_state(
    states: Float[Tensor, "length batch dim"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch dim"]:
    """Take the largest value of each dimension over each string."""
    counted = inside(lengths, states.shape[0])[:, :, None]
    return states.masked_fill(~counted, -torch.inf).amax(0)


def attended_state(
    states: Float[Tensor, "length batch dim"],
    lengths: Int[Tensor, " batch"],
    weight: Float[Tensor, " dim"],
) -> Float[Tensor, "batch dim"]:
    """Sum the states H by attention (Bao et al. 2018, equations 7 to 9).

    α = softmax(wᵀ tanh H), r = H αᵀ. Zhou et al. 2016, whom the paper follows, end with a tanh;
    the paper does not.
    """
    scores = states.tanh() @ weight
    shares = scores.masked_fill(~inside(lengths, states.shape[0]), -torch.inf).softmax(0)
    return (states * shares[:, :, None]).sum(0)


def inside(lengths: Int[Tensor, " batch"], longest: int) -> Bool[Tensor, "longest batch"]:
    """Mark which of `longest` steps belong to each string."""
    return torch.arange(longest, device=lengths.device)[:, None] < lengths


def _one_way(
    lstm: nn.LSTM, weights: dict[str, Tensor], steps: Tensor, suffix: str
) -> Float[Tensor, "length batch hidden"]:
    start = steps.new_zeros(1, steps.shape[1], lstm.hidden_size)
    own = [weights[f"{parameter}_{suffix}"] for parameter in PARAMETERS]
    options = (True, 1, 0.0, lstm.training, False, False)
    states: Tensor = torch.lstm(steps, [start, start], own, *options)[0]
    return states


def _reordered(
    steps: Float[Tensor, "length batch width"], positions: Int[Tensor, "length batch 1"]
) -> Float[Tensor, "length batch width"]:
    return steps.gather(0, positions.expand(-1, -1, steps.shape[2]))
