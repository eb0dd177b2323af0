"""A teacher: a sentence encoder's vectors of the training titles, and of their single words.

In: a folder with `titles.parquet` (``title, vector, nearest``) and `words.parquet` (``word,
vector``), as the stage `teacher` writes it; titles are cleaned, words whole ones, vectors of unit
norm in half precision, `nearest` the rows of the aliases whose vectors are nearest.
`models/training/title_run.py` learns from them; the encoder itself is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from jaxtyping import Float, Float16, Int
    from torch import Tensor


@dataclass(frozen=True)
class TeacherSettings:
    """How a network learns from a teacher; all of it is ours."""

    scale: float
    """Of the words' first vectors: 1 is the teacher's own length, centred; 0 begins without it."""
    spread: float
    """All units' vectors begin uniform in ±spread; those of the teacher's words stand on top."""
    weight: float
    """Of the ranks' cross-entropy, added to the loss; 0: the words are all that is learned from."""
    strings: int
    """Drawn a step, each with one of the aliases nearest to it."""
    teacher_temperature: float
    """Of the teacher's softmax over the aliases that were drawn."""
    temperature: float
    """Of the network's."""


class Vectors(NamedTuple):
    """Texts, each once, and the teacher's vector of each."""

    texts: list[str]
    table: Float16[Tensor, "text dim"]
    """Of unit norm."""


@dataclass(frozen=True)
class Teacher:
    """Titles and words that a teacher has a vector of."""

    titles: Vectors
    nearest: Int[Tensor, "title near"]
    """Places, in `titles`, of the aliases nearest to each; an alias is its own nearest."""
    words: Vectors

    @classmethod
    def read(cls, folder: Path) -> Teacher:
        """Read what the stage `teacher` wrote.

        Raises:
            ValueError: it holds no title or no word: the stage had no teacher to ask.
        """
        titles = _read(folder / "titles.parquet")
        nearest = _matrix(titles["nearest"], len(titles)).long()
        words = _vectors(_read(folder / "words.parquet"), "word")
        return cls(_vectors(titles, "title"), nearest, words)


def principal(table: Float16[Tensor, "text dim"], count: int) -> Float[Tensor, "text count"]:
    """Return centred vectors in their first `count` principal directions, the widest one first.

    Directions have unit norm, and signs by which the largest part of each is positive. Those that
    the vectors do not have are zero.
    """
    centred = table.double() - table.double().mean(0)
    _, directions = torch.linalg.eigh(centred.T @ centred)  # the narrowest one first
    directions = directions.flip(1)[:, :count]
    largest = directions.gather(0, directions.abs().argmax(0, keepdim=True))
    parts = centred @ (directions * largest.sign())
    return functional.pad(parts, (0, count - parts.shape[1])).float()


def _read(path: Path) -> pa.Table:
    table = pq.read_table(path)
    if not len(table):
        raise ValueError(f"{path} is empty: set teacher.kind and rerun the stage teacher")
    return table


def _vectors(table: pa.Table, column: str) -> Vectors:
    return Vectors(table[column].to_pylist(), _matrix(table["vector"], len(table)))


def _matrix(column: pa.ChunkedArray, rows: int) -> Tensor:
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return torch.from_numpy(flat.reshape(rows, -1).copy())
