"""The Siamese branch of Neculoiu et al. 2016, section 3: stacked BLSTM, mean over time, dense.

*Paper mode* reads a window of `max_length` characters, the string at a random place in training
and at offset 0 otherwise, and averages over the whole window. *Fast mode* reads each string over
its true length and averages over that, so an embedding does not depend on its batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor, nn

from models.network.encoder import Encoder, EncoderSettings
from models.network.sequences import in_pieces, lstm_weights, mean_state, run_layers

if TYPE_CHECKING:
    from jaxtyping import Float, Int


@dataclass(frozen=True)
class RecurrentSettings(EncoderSettings):
    """Shape of the network, the paper's values in brackets."""

    reads_characters: ClassVar[bool] = True

    mode: Literal["paper", "fast"]
    max_length: int  # characters read (100)
    dim_character: int
    layers: int  # stacked BLSTM layers (4)
    hidden: int  # units each way (64)
    dim: int  # of the embedding
    dropout_recurrent: float  # on the hidden-to-hidden weights (0.2)
    dropout_between: float  # between layers (0.4)


class RecurrentEncoder(Encoder):
    """Character ids to embeddings."""

    Settings: ClassVar[type] = RecurrentSettings
    settings: RecurrentSettings

    def __init__(self, settings: RecurrentSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        self.characters = nn.Embedding(sizes[0], settings.dim_character)
        sides = (settings.dim_character, settings.hidden, settings.layers)
        self.blstm = nn.LSTM(*sides, bidirectional=True)
        self.dense = nn.Linear(2 * settings.hidden, settings.dim)

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; `lengths` are at least 1. An empty batch gives no rows."""
        weights = lstm_weights(self.blstm, self.settings.dropout_recurrent)
        if self.settings.mode == "paper":
            ids = self._window(ids, lengths)
            lengths = torch.full_like(lengths, self.settings.max_length)

        def mean(ids: Tensor, lengths: Tensor) -> Tensor:
            steps = self.characters(ids.T)
            dropout = self.settings.dropout_between
            return mean_state(run_layers(self.blstm, weights, steps, lengths, dropout), lengths)

        embeddings: Tensor = self.dense(in_pieces(mean, ids, lengths))
        return embeddings

    def _window(
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Int[Tensor, "batch window"]:
        """Place each string in an otherwise empty window of `max_length` characters."""
        window, offset = self.settings.max_length, torch.zeros_like(lengths)
        if self.training:
            offset = (torch.rand(len(ids), device=ids.device) * (window - lengths + 1)).long()
        position = torch.arange(window, device=ids.device) - offset[:, None]  # (batch, window)
        inside = (position >= 0) & (position < lengths[:, None])
        return ids.gather(1, position.clamp(0, ids.shape[1] - 1)) * inside


ENCODER = RecurrentEncoder
