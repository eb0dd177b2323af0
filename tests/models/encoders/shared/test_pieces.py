"""Batches in pieces: every row once and in its place, little padding, whole where it must be."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.encoders.shared.pieces import PIECE, in_pieces


@pytest.mark.thorough
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3 * PIECE))
def test_rows_keep_their_places(sizes: list[int]) -> None:
    """Sum each row within its piece, which is as long as its longest string."""
    lengths = torch.tensor(sizes)
    ids = torch.arange(len(sizes))[:, None] + 1.0
    ids = (ids * (torch.arange(12) < lengths[:, None])).long()
    seen = []

    def embed(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        assert ids.shape[1] == lengths.max()
        seen.append(lengths)
        return ids.sum(1, keepdim=True).double()

    rows = checked(in_pieces)(embed, ids, lengths)
    assert rows[:, 0].tolist() == [size * (row + 1) for row, size in enumerate(sizes)]
    assert torch.cat(seen).tolist() == sorted(sizes)
    assert max(map(len, seen)) <= PIECE
    assert len(seen) == -(-len(sizes) // PIECE)


def test_a_trace_holds_the_batch_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trace: else the pieces of the strings that were traced would stand in the graph."""
    monkeypatch.setattr(torch.jit, "is_tracing", lambda: True)
    ids, lengths = torch.ones(2 * PIECE, 7), torch.ones(2 * PIECE).long()
    assert in_pieces(lambda ids, lengths: ids, ids, lengths) is ids
