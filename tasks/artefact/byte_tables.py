"""Tables in bytes: a number in eight bits, one scale a row, a quarter of what floats take.

A row w is kept as the whole numbers nearest to w/s, with s = max|w|/127 (symmetric quantization,
Jacob et al. 2018, section 2.1, with a scale for each row); s times these is what is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from jaxtyping import Float, Int8
    from torch import Tensor

    from models.network.encoder import Encoder

SCALE = ".scale"
"""Behind a table's name: the scales of its rows."""
LARGEST = 127


def in_bytes(
    table: Float[Tensor, "row dim"],
) -> tuple[Int8[Tensor, "row dim"], Float[Tensor, "row 1"]]:
    """Return whole numbers and scales; a row of zeros has the scale 0."""
    scales = table.abs().amax(dim=1, keepdim=True) / LARGEST
    whole = torch.where(scales > 0, table / scales, 0).round()
    return whole.to(torch.int8), scales


def packed(encoder: Encoder) -> dict[str, Tensor]:
    """Return the weights of an encoder, tables of embeddings in bytes, others as they are."""
    tensors = dict(encoder.state_dict())
    for module, part in encoder.named_modules():
        if isinstance(part, nn.Embedding):
            name = f"{module}.weight"
            tensors[name], tensors[name + SCALE] = in_bytes(tensors[name])
    return tensors


def unpacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights as an encoder takes them, from those that `packed` returned or from floats."""
    scales = {name for name in tensors if name.endswith(SCALE)}
    return {
        name: tensor * tensors[name + SCALE] if name + SCALE in scales else tensor
        for name, tensor in tensors.items()
        if name not in scales
    }
