"""A batch on the CPU in pieces of similar length, so that little padding is computed.

The rows are sorted by length, cut into pieces, each piece padded to its own longest string, and
what comes out is put back in order. A GPU takes the batch whole: there launches cost more than
padding. So does a traced network, whose graph may not depend on a batch's lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

PIECE = 40  # strings of a CPU batch that are padded to one length


def in_pieces(
    embed: Callable[[Tensor, Tensor], Tensor],
    ids: Int[Tensor, "batch length"],
    lengths: Int[Tensor, " batch"],
) -> Float[Tensor, "batch dim"]:
    """Return the rows of `embed(ids, lengths)`: one a string, which depends on no other."""
    if ids.is_cuda or torch.jit.is_tracing():  # type: ignore[attr-defined,no-untyped-call]
        return embed(ids, lengths)
    order = lengths.argsort(stable=True)
    pieces = order.tensor_split(-(-len(ids) // PIECE))
    embedded = [embed(ids[rows, : int(lengths[rows[-1]])], lengths[rows]) for rows in pieces]
    return torch.cat(embedded)[order.argsort()]
