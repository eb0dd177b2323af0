"""A title as the mean of its words' vectors: PARAGRAM-PHRASE (Wieting et al. 2016, ICLR).

The simple baseline of the CHARAGRAM paper (sections 4.1.4 and 5.1): it knows no order of words, and
all unknown words share one learned vector. It starts from random vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from models.network.encoder import Encoder, EncoderSettings
from models.text.featurizer import PADDING
from models.text.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import Float, Int

START = 0.05  # rows start uniform in ±START, so that a step of Adam turns a row


@dataclass(frozen=True)
class WordAverageSettings(EncoderSettings):
    """Which words have a vector of their own, the paper's value in brackets."""

    max_length: int  # words read of a title
    min_count: int  # occurrences in the training titles from which on a word is in the vocabulary
    dim: int  # of a word's vector and of the embedding (300)


class WordAverageEncoder(Encoder):
    """Word ids to the mean of their rows; row 1 is that of every unknown word.

    A string without a word gives zeros. Unknown words are trained with a `min_count` of 2 or more.
    """

    Settings: ClassVar[type] = WordAverageSettings
    settings: WordAverageSettings

    def __init__(self, settings: WordAverageSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        self.words = nn.Embedding(sizes[0], settings.dim, padding_idx=PADDING)
        nn.init.uniform_(self.words.weight, -START, START)
        with torch.no_grad():
            self.words.weight[PADDING] = 0

    @staticmethod
    def units(settings: WordAverageSettings) -> tuple[UnitSettings, ...]:
        """Return the only unit: words."""
        return (UnitSettings("word", settings.max_length, min_count=settings.min_count),)

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Return 1/n Σ of the rows of the n words."""
        total: Tensor = self.words(ids).sum(1)  # the row of padding is zero, and stays it
        return total / lengths[:, None]


ENCODER = WordAverageEncoder
