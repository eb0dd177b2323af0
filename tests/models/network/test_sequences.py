"""Dropped weights and pieces of a batch; the tests of encoders run LSTMs and pooling."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked
from torch import nn

from models.network.sequences import PIECE, in_pieces, lstm_weights


def lstm_of(layers: int = 2, bidirectional: bool = True) -> nn.LSTM:
    torch.manual_seed(4)
    return nn.LSTM(3, 4, num_layers=layers, bidirectional=bidirectional)


def test_weight_dropping_keeps_the_expectation() -> None:
    """Drop only hidden-to-hidden weights: 0 with probability 0.2, else over 0.8; the mean stays."""
    lstm = lstm_of()
    torch.manual_seed(0)
    draws = [lstm_weights(lstm, 0.2) for _ in range(400)]
    for name, weight in lstm.named_parameters():
        drawn = torch.stack([draw[name].detach() for draw in draws])
        if not name.startswith("weight_hh"):
            assert (drawn == weight).all()
            continue
        kept = drawn != 0
        torch.testing.assert_close(drawn[kept], (weight / 0.8).expand_as(drawn)[kept])
        assert abs(kept.double().mean().item() - 0.8) < 0.01
        assert ((drawn.mean(0) / weight) - 1).abs().max() < 0.15
    for weights in (lstm_weights(lstm), lstm_weights(lstm.eval(), 0.5)):
        assert all(weights[name] is value for name, value in lstm.named_parameters())


@pytest.mark.thorough
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3 * PIECE))
def test_rows_in_pieces_keep_their_order(sizes: list[int]) -> None:
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
