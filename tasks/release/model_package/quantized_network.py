"""A network as it is registered: tables and index packed, or in floats, and what they weigh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.kinds import load_model
from models.network.loss import unit
from models.network.quantization import Precision, pack, packed, unpacked, widened
from models.serving.search import Similarities
from models.text.featurizer import Featurizer
from tasks.evaluation.systems import compared

if TYPE_CHECKING:
    from jaxtyping import Num
    from torch import Tensor


@dataclass(frozen=True)
class QuantizedNetwork:
    """A network whose weights are those that a consumer has."""

    featurizer: Featurizer
    encoder: Encoder  # with weights that were packed and unpacked, if they are registered so
    weights: dict[str, Tensor]  # as they are registered
    precision: Precision  # of the tables and the index

    @classmethod
    def of(
        cls, model: Path, precision: Precision, which: Literal["weights", "initial"] = "weights"
    ) -> Self:
        """Read a model, trained or untrained, and bring it to a precision."""
        featurizer, encoder = load_model(model, which)
        weights = packed(encoder, precision)
        encoder.load_state_dict(unpacked(weights))
        return cls(featurizer, encoder, weights, precision)

    def index(self, titles: Sequence[str]) -> Num[Tensor, "title dim"]:
        """Embed the titles of an index as they are registered."""
        embeddings = embed_titles(self.encoder, self.featurizer, titles)
        return embeddings if self.precision == "single" else pack(embeddings, self.precision)[0]

    def similarities(self, titles: Sequence[str]) -> Similarities:
        """Compare cleaned titles with those of an index."""
        return compared(self.featurizer, self.encoder, unit(widened(self.index(titles)).float()))

    def megabytes(self, titles: Sequence[str]) -> float:
        """Return what weights and index take, a megabyte being 1,000,000 bytes."""
        tensors = [*self.weights.values(), self.index(titles)]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors) / 1e6
