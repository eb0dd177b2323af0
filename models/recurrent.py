"""The Siamese branch of Neculoiu et al. 2016, section 3: stacked BLSTM, mean over time, dense.

*Paper mode* reads a window of `max_length` characters, the string at a random place in training
and at offset 0 otherwise, and averages over the whole window. *Fast mode* reads each string over
its true length and averages over that, so an embedding does not depend on its batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


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
            batch_first=True,
            # a single layer has nothing between, and torch warns
            dropout=settings.dropout_between if settings.layers > 1 else 0.0,
        )
        self.dense = nn.Linear(2 * settings.hidden, settings.dim)

    def forward(
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; `lengths` are at least 1. An empty batch gives no rows."""
        if not len(ids):
            return self.dense.weight.new_zeros(0, self.settings.dim)
        with self._dropped_weights():
            if self.settings.mode == "paper":
                mean = self.blstm(self.characters(self._window(ids, lengths)))[0].mean(dim=1)
            else:
                # lengths go to the CPU because packing reads them there
                packed = pack_padded_sequence(
                    self.characters(ids), lengths.cpu(), batch_first=True, enforce_sorted=False
                )
                hidden, _ = pad_packed_sequence(self.blstm(packed)[0], batch_first=True)
                mean = hidden.sum(dim=1) / lengths[:, None]
        return functional.normalize(self.dense(mean), dim=-1)

    @contextmanager
    def _dropped_weights(self) -> Iterator[None]:
        """In training, hidden-to-hidden weights are dropped for as long as this is open."""
        dropout, whole = self.settings.dropout_recurrent, self.blstm._flat_weights
        if self.training and dropout:
            self.blstm._flat_weights = [
                functional.dropout(self.blstm.get_parameter(name), dropout)
                if name.startswith("weight_hh")
                else self.blstm.get_parameter(name)
                for name in self.blstm._flat_weights_names
            ]
        try:
            yield
        finally:
            self.blstm._flat_weights = whole

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
