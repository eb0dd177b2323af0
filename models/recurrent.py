"""The Siamese branch of Neculoiu et al. 2016, section 3: stacked BLSTM, mean over time, dense.

*Paper mode* reads a window of `max_length` characters, the string at a random place in training
and at offset 0 otherwise, and averages over the whole window. *Fast mode* reads each string over
its true length and averages over that, so an embedding does not depend on its batch.

A layer is two one-way LSTMs over padded strings, the second over each string reversed within its
length: padding stands behind every string for both, so what it gives is never read. On a CPU this
is nearly twice as fast as packed sequences, whose backward pass costs the square of the length; a
batch is cut into pieces of similar length, so that little padding is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
PIECE = 40  # strings of a CPU batch that are padded to one length


@dataclass(frozen=True)
class RecurrentSettings:
    """Shape of the network; the paper's values in brackets."""

    mode: Literal["paper", "fast"]
    max_length: int
    """Characters read (100)."""
    dim_character: int
    layers: int
    """Stacked BLSTM layers (4)."""
    hidden: int
    """Units each way (64)."""
    dim: int
    """Of the embedding."""
    dropout_recurrent: float
    """On the hidden-to-hidden weights (0.2): see `docs/DESIGN.md`, "Recurrent dropout"."""
    dropout_between: float
    """Between layers (0.4)."""


class RecurrentEncoder(nn.Module):
    """Character ids to unit-norm embeddings.

    Args:
        settings: shape of the network.
        vocabulary_size: number of character ids, padding (0) included.
    """

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.settings = settings
        self.characters = nn.Embedding(vocabulary_size, settings.dim_character)
        self.blstm = nn.LSTM(
            settings.dim_character,
            settings.hidden,
            num_layers=settings.layers,
            bidirectional=True,
        )
        self.dense = nn.Linear(2 * settings.hidden, settings.dim)

    def forward(
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; `lengths` are at least 1. An empty batch gives no rows."""
        if not len(ids):
            return self.dense.weight.new_zeros(0, self.settings.dim)
        weights = self._dropped_weights()
        if self.settings.mode == "paper":
            ids = self._window(ids, lengths)
            lengths = torch.full_like(lengths, self.settings.max_length)
        tracing = torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
        if ids.is_cuda or tracing:
            mean = self._mean(ids, lengths, weights)
        else:
            order = lengths.argsort(stable=True)
            mean = torch.cat(
                [
                    self._mean(ids[rows, : int(lengths[rows[-1]])], lengths[rows], weights)
                    for rows in order.tensor_split(-(-len(ids) // PIECE))
                ]
            )[order.argsort()]
        return functional.normalize(self.dense(mean), dim=-1)

    def _mean(
        self,
        ids: Int[Tensor, "batch length"],
        lengths: Int[Tensor, " batch"],
        weights: dict[str, Tensor],
    ) -> Float[Tensor, "batch hidden"]:
        """The last layer's states, both ways, averaged over each string's length."""
        step = torch.arange(ids.shape[1], device=ids.device)[:, None]
        inside = step < lengths  # (length, batch)
        mirrored = torch.where(inside, lengths - 1 - step, step)[:, :, None]
        states: Tensor = self.characters(ids.T)
        for layer in range(self.settings.layers):
            if layer:
                states = functional.dropout(states, self.settings.dropout_between, self.training)
            forward = self._one_way(states, weights, f"l{layer}")
            reversed_ = states.gather(0, mirrored.expand(-1, -1, states.shape[2]))
            backward = self._one_way(reversed_, weights, f"l{layer}_reverse")
            backward = backward.gather(0, mirrored.expand(-1, -1, backward.shape[2]))
            states = torch.cat([forward, backward], dim=2)  # (length, batch, 2 hidden)
        return (states * inside[:, :, None]).sum(0) / lengths[:, None]

    def _one_way(
        self, states: Float[Tensor, "length batch width"], weights: dict[str, Tensor], suffix: str
    ) -> Float[Tensor, "length batch hidden"]:
        """Equations 1 to 6 over the steps, from a state of zeros; gates by torch."""
        start = states.new_zeros(1, states.shape[1], self.settings.hidden)
        own = [weights[f"{kind}_{suffix}"] for kind in KINDS]
        hidden: Tensor = torch.lstm(
            states, [start, start], own, True, 1, 0.0, self.training, False, False
        )[0]
        return hidden

    def _dropped_weights(self) -> dict[str, Tensor]:
        """The BLSTM's weights by name, in training with the hidden-to-hidden ones dropped."""
        dropout = self.settings.dropout_recurrent if self.training else 0.0
        return {
            name: functional.dropout(weight, dropout)
            if dropout and name.startswith("weight_hh")
            else weight
            for name, weight in self.blstm.named_parameters()
        }

    def _window(
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Int[Tensor, "batch window"]:
        """Place each string in an otherwise empty window of `max_length` characters."""
        window = self.settings.max_length
        room = window - lengths
        if self.training:
            offset = (torch.rand(len(ids), device=ids.device) * (room + 1)).long()
        else:
            offset = torch.zeros_like(room)
        place = torch.arange(window, device=ids.device) - offset[:, None]  # (batch, window)
        inside = (place >= 0) & (place < lengths[:, None])
        return ids.gather(1, place.clamp(0, ids.shape[1] - 1)) * inside
