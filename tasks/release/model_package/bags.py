"""Networks that add up a row of one table for each unit: known by what they do, not by their name.

The served model reads such a network's table itself (`models/normalizer/bag.py`); all others are
exported to ONNX.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from models.network.encoder import Encoder
from models.network.loss import unit

PROBED = 8
"""Titles that both are asked with, of as many units."""


class BagWeights(NamedTuple):
    """Names of the weights of a bag, in `settings.json`; `bias` is empty if there is none."""

    table: str
    bias: str
    tanh: bool


def bag_weights(encoder: Encoder) -> BagWeights | None:
    """Return the weights of an encoder that is a bag; None of any other."""
    named = dict(encoder.named_parameters())
    tables = [
        f"{module}.weight"
        for module, part in encoder.named_modules()
        if isinstance(part, nn.Embedding)
    ]
    others = [name for name in named if name not in tables]
    shapes = [named[name].shape for name in others]
    if len(tables) != 1 or shapes not in ([], [(encoder.dim,)]):
        return None
    rows = named[tables[0]]
    if rows.shape[1] != encoder.dim:
        return None
    ids = torch.randint(1, len(rows), (PROBED, PROBED), generator=torch.Generator().manual_seed(0))
    sums = rows[ids].sum(1) + (named[others[0]] if others else 0)
    with torch.no_grad():
        embedded = encoder(ids, torch.full((PROBED,), PROBED))
        for tanh in (False, True):
            if torch.allclose(unit(embedded), unit(sums.tanh() if tanh else sums), atol=1e-6):
                return BagWeights(tables[0], others[0] if others else "", tanh)
    return None
