"""The charLSTM of Wieting et al. 2016, section 3: one LSTM over the characters, its last state.

The paper tunes whether the LSTM has an output gate (appendix B): without one, h(t) = tanh(c(t)),
which the fused LSTM computes with that gate held open. It has no peepholes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from models.network.encoder import Encoder, EncoderSettings
from models.network.sequences import in_pieces, last_state, lstm_weights, run_layers

if TYPE_CHECKING:
    from jaxtyping import Float, Int

OPEN = 40.0  # σ(40) is 1 in float32


@dataclass(frozen=True)
class CharLstmSettings(EncoderSettings):
    """Shape of the network, the paper's values in brackets."""

    reads_characters: ClassVar[bool] = True

    max_length: int  # characters read of a title
    dim_character: int  # of a character's vector (300)
    dim: int  # hidden units, which are the embedding (300)
    output_gate: bool  # whether there is one (tuned)


class CharLstmEncoder(Encoder):
    """Character ids to embeddings."""

    Settings: ClassVar[type] = CharLstmSettings
    settings: CharLstmSettings

    def __init__(self, settings: CharLstmSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        self.characters = nn.Embedding(sizes[0], settings.dim_character)
        self.lstm = nn.LSTM(settings.dim_character, settings.dim)

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; `lengths` are at least 1. An empty batch gives no rows."""
        weights = lstm_weights(self.lstm)
        if not self.settings.output_gate:
            weights = {name: _held_open(name, weight) for name, weight in weights.items()}

        def last(ids: Tensor, lengths: Tensor) -> Tensor:
            states = run_layers(self.lstm, weights, self.characters(ids.T), lengths)
            return last_state(states, lengths, bidirectional=False)

        return in_pieces(last, ids, lengths)


def _held_open(name: str, weight: Tensor) -> Tensor:
    """Fix a parameter's rows of the output gate, the last quarter: σ(0·x + 0·h + 40) = 1."""
    *gates, output = weight.chunk(4)
    value = OPEN if name.startswith("bias_ih") else 0.0
    return torch.cat([*gates, torch.full_like(output, value)])


ENCODER = CharLstmEncoder
