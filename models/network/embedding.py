"""Strings to embeddings in bulk: sorted by length, so that a batch holds little padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from models.network.encoder import Encoder
from models.network.featurized_strings import FeaturizedStrings
from models.network.loss import unit
from models.reproducibility.progress import Progress
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

BATCH = 512


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


def embed_titles(
    encoder: Encoder, featurizer: Featurizer, titles: Sequence[str]
) -> Float[Tensor, "title dim"]:
    """Featurize and embed cleaned titles, on the encoder's device; of unit norm."""
    device = next(encoder.parameters()).device
    strings = FeaturizedStrings.of(titles, featurizer, device)
    return embed_rows(encoder, strings, torch.arange(len(titles), device=device))
