"""Columns of text that repeats: each distinct text once, and numbers in place of the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, overload

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Int64


@dataclass(frozen=True, eq=False)
class Coded(Sequence[str]):
    """A sequence of texts.

    Attributes:
        names: distinct texts, sorted by code points.
        codes: place in `names` of each text.
    """

    names: Sequence[str]
    codes: Int64[np.ndarray, " row"]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """Number the values of a column."""
        if isinstance(texts, cls):
            return texts
        names = sorted(set(texts))
        place = {name: code for code, name in enumerate(names)}
        return cls(names, np.fromiter(map(place.__getitem__, texts), np.int64, len(texts)))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        """Return the text of a row, or those of a slice."""
        if isinstance(row, slice):
            return [self.names[code] for code in self.codes[row].tolist()]
        return self.names[int(self.codes[row])]
