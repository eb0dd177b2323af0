"""Several encoders side by side, joined by one layer: the future work of Neculoiu et al. 2016.

Section 5 there proposes "convolutional layers in addition to the recurrent layers". Parts may be
encoders of any kind but this one; each reads its own units of the same titles. They are trained
together, from scratch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import nn

from models.network.encoder import Encoder
from models.network.kinds import encoder_class, encoder_settings, plain
from models.network.loss import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float
    from torch import Tensor

    from models.text.units import UnitSettings


@dataclass(frozen=True)
class HybridSettings:
    """The parts and how they are joined.

    Raises:
        ValueError: a part cannot be built, and which; or the rest cannot work.
    """

    parts: tuple[dict[str, Any], ...]
    """Of each part its `kind` and all values of that kind's settings."""
    combine: Literal["concatenate", "gated"]
    """`concatenate`: a dense layer over all parts. `gated`: the parts' own dense layers, weighted
    for each dimension by a softmax over the parts."""
    dim: int
    """Of the embedding."""

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ValueError(f"parts = {self.parts}; name two or more, or use one alone")
        if self.combine not in ("concatenate", "gated"):
            raise ValueError(f"combine = {self.combine!r}; choose concatenate or gated")
        if self.dim < 1:
            raise ValueError(f"dim = {self.dim}; choose 1 or more")
        # as their settings write them, so that lists from JSON are equal to the tuples they were
        checked = (plain(_checked(place, part)) for place, part in enumerate(self.parts))
        object.__setattr__(self, "parts", tuple(checked))


class HybridEncoder(Encoder):
    """Each part's embedding to unit norm, then joined.

    An encoder used alone is compared by cosine, which fixes no length: a sum of 60 vectors and a
    mean of 60 states differ by far, and the longest part would drown the others. A part that knows
    nothing of a title (zeros) stays zeros.
    """

    Settings: ClassVar[type] = HybridSettings
    settings: HybridSettings

    def __init__(self, settings: HybridSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        left = iter(sizes)
        kinds = _kinds(settings)
        self.reads = [len(kind.units(own)) for kind, own in kinds]
        parts = [
            kind(own, tuple(islice(left, count)))
            for (kind, own), count in zip(kinds, self.reads, strict=True)
        ]
        self.parts = nn.ModuleList(parts)
        join = Concatenated if settings.combine == "concatenate" else Gated
        self.joined = join([part.dim for part in parts], settings.dim)

    @staticmethod
    def units(settings: HybridSettings) -> tuple[UnitSettings, ...]:
        """Return the units of the parts, one part after the other."""
        return tuple(read for kind, own in _kinds(settings) for read in kind.units(own))

    def forward(self, *features: Tensor) -> Float[Tensor, "batch dim"]:
        """Hand each part its tensors, two a unit, and join what they give."""
        left = iter(features)
        embeddings = [
            unit(part(*islice(left, 2 * count)))
            for part, count in zip(self.parts, self.reads, strict=True)
        ]
        joined: Tensor = self.joined(embeddings)
        return joined


class Concatenated(nn.Module):
    """A dense layer over the parts, one behind the other."""

    def __init__(self, dims: Sequence[int], dim: int) -> None:
        super().__init__()
        self.dense = nn.Linear(sum(dims), dim)

    def forward(self, embeddings: Sequence[Tensor]) -> Float[Tensor, "batch dim"]:
        """Join one embedding [batch, own dim] a part into one for all."""
        joined: Tensor = self.dense(torch.cat(tuple(embeddings), 1))
        return joined


class Gated(nn.Module):
    """A weighted mean of the parts; a title's weights, one a part and dimension, depend on it."""

    def __init__(self, dims: Sequence[int], dim: int) -> None:
        super().__init__()
        self.dense = nn.ModuleList(nn.Linear(own, dim) for own in dims)
        self.gates = nn.Linear(sum(dims), len(dims) * dim)

    def forward(self, embeddings: Sequence[Tensor]) -> Float[Tensor, "batch dim"]:
        """Join one embedding [batch, own dim] a part into one for all."""
        both = zip(self.dense, embeddings, strict=True)
        states = torch.stack([dense(embedding) for dense, embedding in both], 1)
        gates: Tensor = self.gates(torch.cat(tuple(embeddings), 1))
        weights = gates.view(states.shape).softmax(1)  # (batch, part, dim)
        mean: Tensor = (weights * states).sum(1)
        return mean


def _checked(place: int, values: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the settings of a part.

    Raises:
        ValueError: its values cannot be used; the message names the part.
    """
    name = f"parts[{place}], kind {values.get('kind')!r}"
    try:
        own = encoder_settings({"kind": None, **values})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    if isinstance(own, HybridSettings):
        raise ValueError(f"{name}: name its parts here instead")
    return own


def _kinds(settings: HybridSettings) -> list[tuple[type[Encoder], Any]]:
    """Return the class and the settings of each part."""
    return [(encoder_class(part["kind"]), encoder_settings(part)) for part in settings.parts]


ENCODER = HybridEncoder
