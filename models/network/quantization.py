"""Tables in bytes or half bytes: a number in eight or four bits, one scale a row.

A row w is kept as the integers nearest to w/s, with s = max|w|/m and m the largest that the bits
hold (symmetric quantization, Jacob et al. 2018, section 2.1). A half-byte table has two numbers a
byte, 8 added to each: the first half of a row in the lower bits, the second in the upper ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from jaxtyping import Float, Shaped

    from models.network.encoder import Encoder

Precision = Literal["half_byte", "byte", "single"]  # four bits, eight bits, or floats
SCALE = ".scale"  # behind a table's name: the scales of its rows
LARGEST = {"half_byte": 7, "byte": 127}
OFFSET, VALUES = 8, 16


def pack(
    table: Float[Tensor, "row dim"], precision: Precision
) -> tuple[Shaped[Tensor, "row _"], Float[Tensor, "row 1"]]:
    """Return a table as it is kept in bytes or half bytes, and its scales; 0 of a row of zeros.

    ValueError if rows of half bytes have an odd number of numbers.
    """
    scales = table.abs().amax(dim=1, keepdim=True) / LARGEST[precision]
    quantized = torch.where(scales > 0, table / scales, 0).round().to(torch.int8)
    if precision == "byte":
        return quantized, scales
    if table.shape[1] % 2:
        raise ValueError(
            f"rows of {table.shape[1]} numbers cannot be halved: choose an even dim, or byte for "
            "register.precision"
        )
    lower, upper = (quantized + OFFSET).to(torch.uint8).chunk(2, dim=1)
    return lower + VALUES * upper, scales


def widened(table: Shaped[Tensor, "row _"]) -> Shaped[Tensor, "row dim"]:
    """Return one number a byte of a table in half bytes, and any other table itself."""
    if table.dtype != torch.uint8:
        return table
    return torch.cat([table % VALUES, table // VALUES], dim=1).to(torch.int8) - OFFSET


def packed(encoder: Encoder, precision: Precision) -> dict[str, Tensor]:
    """Return the weights of an encoder, tables of embeddings packed, others as they are."""
    tensors = dict(encoder.state_dict())
    if precision == "single":
        return tensors
    for module, part in encoder.named_modules():
        if isinstance(part, nn.Embedding):
            name = f"{module}.weight"
            tensors[name], tensors[name + SCALE] = pack(tensors[name], precision)
    return tensors


def unpacked(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights as an encoder takes them, from those that `packed` returned or from floats."""
    return {
        name: widened(tensor) * tensors[name + SCALE] if name + SCALE in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(SCALE)
    }
