"""A network as it is registered: tables and index in bytes, or in floats, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from models.answer.search import Similarities
from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.loss import unit
from models.network.model_files import load_model
from models.text.featurizer import Featurizer
from tasks.artefact.byte_tables import in_bytes, packed, unpacked
from tasks.evaluation.systems import compared

if TYPE_CHECKING:
    from jaxtyping import Num
    from torch import Tensor

BYTE, SINGLE = "byte", "single"


@dataclass(frozen=True)
class Registered:
    """A network whose weights are those that a consumer has.

    Attributes:
        featurizer: of it.
        encoder: with weights that were packed and unpacked, if they are registered in bytes.
        weights: what is registered.
        precision: `byte` or `single`.
    """

    featurizer: Featurizer
    encoder: Encoder
    weights: dict[str, Tensor]
    precision: str

    @classmethod
    def of(
        cls, model: Path, precision: str = BYTE, which: Literal["weights", "initial"] = "weights"
    ) -> Self:
        """Read a model, trained or untrained, and bring it to a precision."""
        featurizer, encoder = load_model(model, which)
        weights = packed(encoder) if precision == BYTE else dict(encoder.state_dict())
        encoder.load_state_dict(unpacked(weights))
        return cls(featurizer, encoder, weights, precision)

    def index(self, titles: list[str]) -> Num[Tensor, "title dim"]:
        """Embed the titles of an index as they are registered."""
        embeddings = embed_titles(self.encoder, self.featurizer, titles)
        return in_bytes(embeddings)[0] if self.precision == BYTE else embeddings

    def similarities(self, titles: list[str]) -> Similarities:
        """Compare cleaned titles with those of an index."""
        return compared(self.featurizer, self.encoder, unit(self.index(titles).float()))

    def megabytes(self, titles: list[str]) -> float:
        """Return what weights and index take, a megabyte being 1,000,000 bytes."""
        tensors = [*self.weights.values(), self.index(titles)]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors) / 1e6
