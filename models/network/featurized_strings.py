"""Strings on the device: each is featurized once, and a batch is a gather."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from jaxtyping import Int, Integer
    from torch import Tensor


class Stream(NamedTuple):
    """The units of one kind of all strings, string after string."""

    flat: Integer[Tensor, " unit"]
    starts: Int[Tensor, " string"]
    lengths: Int[Tensor, " string"]

    def batch(self, rows: Int[Tensor, " batch"]) -> tuple[Tensor, Tensor]:
        """Return ids [batch, longest of the batch], padded with 0, and lengths [batch]."""
        lengths = self.lengths[rows]
        step = torch.arange(int(lengths.max()) if len(rows) else 1, device=rows.device)
        place = self.starts[rows][:, None] + torch.minimum(step, lengths[:, None] - 1)
        return self.flat[place].long() * (step < lengths[:, None]), lengths


@dataclass(frozen=True)
class FeaturizedStrings:
    """Units of all strings on one device: one stream for each kind that the encoder reads."""

    streams: tuple[Stream, ...]

    @classmethod
    def of(
        cls, titles: Sequence[str], featurizer: Featurizer, device: torch.device
    ) -> FeaturizedStrings:
        """Featurize `titles` and move them to `device`; one byte a unit where it suffices."""
        streams = []
        for ids, size in zip(featurizer(titles).streams, featurizer.sizes, strict=True):
            flat = torch.from_numpy(ids.flat.astype(np.uint8 if size <= 256 else np.int32))
            lengths = torch.from_numpy(ids.lengths)
            starts = lengths.cumsum(0) - lengths
            streams.append(Stream(flat.to(device), starts.to(device), lengths.to(device)))
        return cls(tuple(streams))

    @property
    def lengths(self) -> Int[Tensor, " string"]:
        """Of the first stream: what strings are sorted by, so that a batch holds little padding."""
        return self.streams[0].lengths

    def batch(self, rows: Int[Tensor, " batch"]) -> tuple[Tensor, ...]:
        """Return ids and lengths of the strings in `rows`, as `Encoder.forward` takes them."""
        return tuple(part for stream in self.streams for part in stream.batch(rows))
