"""Strings to embeddings in bulk: sorted by length, so that a batch holds little padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from models.featurizer import CharacterFeaturizer
from models.recurrent import RecurrentEncoder
from models.strings import FeaturizedStrings

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

BATCH = 512


@torch.inference_mode()
def embed_rows(
    encoder: RecurrentEncoder, strings: FeaturizedStrings, rows: Int[Tensor, " row"]
) -> Float[Tensor, "row dim"]:
    """Embeddings of `rows`, in their order; leaves the encoder in evaluation mode."""
    encoder.eval()
    rows = rows.to(strings.ids.device)
    order = strings.lengths[rows].argsort(stable=True)
    embeddings = torch.empty(len(rows), encoder.settings.dim, device=rows.device)
    for start in range(0, len(rows), BATCH):
        block = order[start : start + BATCH]
        embeddings[block] = encoder(*strings.batch(rows[block])).float()
    return embeddings


def embed_titles(
    encoder: RecurrentEncoder, featurizer: CharacterFeaturizer, raw_titles: list[str]
) -> Float[Tensor, "title dim"]:
    """Featurize and embed titles as received, on the encoder's device."""
    device = encoder.dense.weight.device
    strings = FeaturizedStrings.of(raw_titles, featurizer, device)
    return embed_rows(encoder, strings, torch.arange(len(raw_titles), device=device))
