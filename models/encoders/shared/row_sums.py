"""Sums of rows of a table, whose gradient is sparse: one row for each that was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor


class RowSums(torch.autograd.Function):
    """`embedding_bag` in mode `sum`, with a coalesced gradient.

    The gradient of a row is the sum over the strings that read it, a bag of strings. The sparse
    gradient of `embedding_bag` itself is a copy for each unit of each string, to be coalesced.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        table: Float[Tensor, "row dim"],
        ids: Int[Tensor, " unit"],
        counts: Int[Tensor, " string"],
    ) -> Float[Tensor, "string dim"]:
        """Return one sum a string; the units of `ids` are the first string's, then the next's."""
        ctx.save_for_backward(ids, counts)
        ctx.shape = table.shape
        return functional.embedding_bag(ids, table, counts.cumsum(0) - counts, mode="sum")

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        gradient: Float[Tensor, "string dim"],
    ) -> tuple[Tensor, None, None]:
        """Return the gradient of the table, sparse over its rows."""
        ids, counts = ctx.saved_tensors
        string = torch.repeat_interleave(counts)
        ordered, order = ids.sort(stable=True)
        rows, sizes = torch.unique_consecutive(ordered, return_counts=True)
        starts = sizes.cumsum(0) - sizes
        summed = functional.embedding_bag(string[order], gradient, starts, mode="sum")
        sparse = torch.sparse_coo_tensor(
            rows[None], summed, ctx.shape, is_coalesced=True, check_invariants=False
        )
        return sparse, None, None
