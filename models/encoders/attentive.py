"""The attentive Siamese LSTM of Bao et al. 2018, section III: one LSTM, attention over its states.

A string's words, or its characters, are embedded, read by an LSTM (one way or both) and pooled by
the attention of equations 7 to 9; the last state alone is the paper's baseline. No dense layer
follows. The paper's vectors were trained beforehand; ours start at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional

from models.network import sequences
from models.network.encoder import Encoder, EncoderSettings
from models.text.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import Float, Int


@dataclass(frozen=True)
class AttentiveSettings(EncoderSettings):
    """Shape of the network, the paper's values in brackets."""

    unit: Literal["character", "word"]  # one step of the LSTM (word)
    max_length: int  # units read of a title
    dim_unit: int  # of a unit's vector (300)
    hidden: int  # units each way (50)
    bidirectional: bool  # whether a second LSTM reads backwards; its states stand behind (false)
    pooling: Literal["attention", "last", "mean", "max"]  # of states (attention; last)
    min_count: int  # occurrences from which on a word gets a vector; unread otherwise
    dropout: float  # on the vectors of the units, in training (none)

    def __post_init__(self) -> None:
        low = 4 if self.unit == "character" else 1
        if not low <= self.max_length <= 1000:
            raise ValueError(f"max_length = {self.max_length} {self.unit}s; choose {low} to 1000")
        super().__post_init__()


class AttentiveEncoder(Encoder):
    """Ids of words or characters to embeddings."""

    Settings: ClassVar[type] = AttentiveSettings
    settings: AttentiveSettings

    def __init__(self, settings: AttentiveSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        self.vectors = nn.Embedding(sizes[0], settings.dim_unit)
        ways = settings.bidirectional
        self.lstm = nn.LSTM(settings.dim_unit, settings.hidden, bidirectional=ways)
        attends = settings.pooling == "attention"
        self.attention = nn.Linear(self.dim, 1, bias=False) if attends else None

    @staticmethod
    def units(settings: AttentiveSettings) -> tuple[UnitSettings, ...]:
        """Return the only unit: words that occur often enough, or all characters."""
        if settings.unit == "word":
            return (UnitSettings("word", settings.max_length, min_count=settings.min_count),)
        return Encoder.units(settings)

    @property
    def dim(self) -> int:
        """Of the embedding: as many as there are hidden units, both ways together."""
        return self.settings.hidden * (2 if self.settings.bidirectional else 1)

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; `lengths` are at least 1. An empty batch gives no rows."""
        weights = sequences.lstm_weights(self.lstm)

        def pooled(ids: Tensor, lengths: Tensor) -> Tensor:
            steps = functional.dropout(self.vectors(ids.T), self.settings.dropout, self.training)
            states = sequences.run_layers(self.lstm, weights, steps, lengths)
            if self.attention is not None:
                return sequences.attended_state(states, lengths, self.attention.weight[0])
            if self.settings.pooling == "last":
                return sequences.last_state(states, lengths, self.settings.bidirectional)
            pool = (
                sequences.mean_state if self.settings.pooling == "mean" else sequences.largest_state
            )
            return pool(states, lengths)

        return sequences.in_pieces(pooled, ids, lengths)


ENCODER = AttentiveEncoder
