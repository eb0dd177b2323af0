"""The base of encoders: features of a batch of strings in, one vector a string out.

An encoder is one file of `models/encoders/`, whose name is its kind, with a subclass of
`EncoderSettings` and a subclass of `Encoder` bound to the name `ENCODER`. The featurizer is fitted
to its `units`. Losses and `models/network/embedding.py` bring the output of `forward` to unit norm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from torch import Tensor, nn

from models.text.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import Float


@dataclass(frozen=True)
class EncoderSettings:
    """Base of every encoder's settings: plain values (numbers, strings, tuples of these).

    ValueError if a choice is unknown, a count too small, or a share (a float) not in [0, 1); or the
    encoder cannot work with the values. The message says what to choose.
    """

    may_be_zero: ClassVar[tuple[str, ...]] = ()  # counts; all others are 1 or more
    reads_characters: ClassVar[bool] = False  # whether `max_length` is, and so from 4 to 1000

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if self.reads_characters and name == "max_length" and not 4 <= value <= 1000:
                raise ValueError(f"max_length = {value}; choose 4 to 1000 characters")
            if get_origin(hint) is Literal and value not in get_args(hint):
                *others, last = get_args(hint)
                raise ValueError(f"{name} = {value!r}; choose {', '.join(others)} or {last}")
            least = 0 if name in self.may_be_zero else 1
            if hint is int and value < least:
                raise ValueError(f"{name} = {value}; choose {least} or more")
            if hint is float and not 0 <= value < 1:
                raise ValueError(f"{name} = {value}; choose 0 or more, below 1")


class Encoder(nn.Module, ABC):
    """Base of all encoders: `Settings` is the class of its `settings`.

    `sparse`: whether gradients hold the rows alone that a batch reads.
    """

    Settings: ClassVar[type]

    def __init__(self, settings: Any, sizes: Sequence[int]) -> None:  # noqa: ANN401
        """Make the layers; `sizes` are the numbers of ids of each of `units`, in order."""
        super().__init__()
        self.settings = settings
        self.sparse = False

    @staticmethod
    def units(settings: Any) -> tuple[UnitSettings, ...]:  # noqa: ANN401
        """Return the units that `forward` reads: all characters, unless the encoder says others."""
        return (UnitSettings("character", settings.max_length),)

    @property
    def dim(self) -> int:
        """Of the embedding: the setting of that name, unless the encoder says otherwise."""
        dim: int = self.settings.dim
        return dim

    @staticmethod
    def check_sparse(settings: Any) -> None:  # noqa: ANN401
        """Refuse settings of more than one table of rows (`train.sparse_updates`): ValueError."""
        raise ValueError(
            "this encoder is more than one table of rows: set train.sparse_updates to false, or "
            "choose train.encoder.kind ngram_bag with bias: false"
        )

    @abstractmethod
    def forward(self, *features: Tensor) -> Float[Tensor, "batch dim"]:
        """Embed a batch, not of unit norm; an empty batch gives no rows.

        `features` are two int64 tensors for each of `units`: `ids [batch length]`, padded with 0
        behind each string, and `lengths [batch]`, 1 or more. A string without a unit has length 1
        and the id 0.
        """
