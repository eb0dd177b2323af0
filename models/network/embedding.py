"""Strings to embeddings in bulk: featurized once, sorted by length, so that little is padded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from models.network.encoder import Encoder
from models.network.loss import unit
from models.reproducibility import Progress
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

BATCH = 512


def embed_titles(
    encoder: Encoder, featurizer: Featurizer, titles: Sequence[str]
) -> Float[Tensor, "title dim"]:
    """Featurize and embed cleaned titles, on the encoder's device; of unit norm."""
    device = next(encoder.parameters()).device
    strings = FeaturizedStrings(titles, featurizer, device)
    return embed_rows(encoder, strings, torch.arange(len(titles), device=device))


class FeaturizedStrings:
    """Units of strings on one device, so that a batch is a gather.

    `streams` hold, for each kind of units that the encoder reads, the ids of all strings, string
    after string, and where each string starts; `lengths` are of the first kind.
    """

    def __init__(self, titles: Sequence[str], featurizer: Featurizer, device: torch.device) -> None:
        self.streams: list[tuple[Tensor, Tensor, Tensor]] = []
        for ids, size in zip(featurizer(titles).streams, featurizer.sizes, strict=True):
            flat = torch.from_numpy(ids.flat.astype(np.uint8 if size <= 256 else np.int32))
            lengths = torch.from_numpy(ids.lengths)
            starts = lengths.cumsum(0) - lengths
            self.streams.append((flat.to(device), starts.to(device), lengths.to(device)))
        self.lengths = self.streams[0][2]

    def batch(self, rows: Int[Tensor, " batch"]) -> tuple[Tensor, ...]:
        """Return ids and lengths of the strings in `rows`, as `Encoder.forward` takes them."""
        parts: list[Tensor] = []
        for flat, starts, all_lengths in self.streams:
            lengths = all_lengths[rows]
            step = torch.arange(int(lengths.max()) if len(rows) else 1, device=rows.device)
            position = starts[rows][:, None] + torch.minimum(step, lengths[:, None] - 1)
            parts += [flat[position].long() * (step < lengths[:, None]), lengths]
        return tuple(parts)


def embed_rows(
    encoder: Encoder, strings: FeaturizedStrings, rows: Int[Tensor, " row"]
) -> Float[Tensor, "row dim"]:
    """Return unit-norm embeddings of `rows`, in their order; the encoder is left evaluating."""
    return unit(encode_rows(encoder, strings, rows))


@torch.inference_mode()
def encode_rows(
    encoder: Encoder, strings: FeaturizedStrings, rows: Int[Tensor, " row"]
) -> Float[Tensor, "row dim"]:
    """Return the encoder's own output for `rows`, of no unit norm; otherwise as `embed_rows`."""
    encoder.eval()
    rows = rows.to(strings.lengths.device)
    order = strings.lengths[rows].argsort(stable=True)
    outputs = torch.empty(len(rows), encoder.dim, device=rows.device)
    progress = Progress("strings embedded:", len(rows))
    for start in range(0, len(rows), BATCH):
        block = order[start : start + BATCH]
        outputs[block] = encoder(*strings.batch(rows[block])).float()
        progress(start + len(block))
    return outputs
