"""LSTMs, pooling and pieces of a batch: by loop, by hand, blind to what is behind a string."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from encoder_checks import layers_by_loop
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked
from torch import nn

from models.network.sequences import (
    PIECE,
    attended_state,
    in_pieces,
    inside,
    largest_state,
    last_state,
    lstm_weights,
    mean_state,
    run_layers,
)

WEIGHT = torch.tensor([1.5, -2.0, 0.5, 3.0])
Pool = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
POOLS: dict[str, Pool] = {
    "last": lambda states, lengths: checked(last_state)(states, lengths, False),
    "last, both ways": lambda states, lengths: checked(last_state)(states, lengths, True),
    "mean": checked(mean_state),
    "max": checked(largest_state),
    "attention": lambda states, lengths: checked(attended_state)(states, lengths, WEIGHT),
}


def lstm_of(layers: int = 2, bidirectional: bool = True) -> nn.LSTM:
    torch.manual_seed(4)
    return nn.LSTM(3, 4, num_layers=layers, bidirectional=bidirectional)


@pytest.mark.thorough
@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=5),
    layers=st.integers(1, 3),
    bidirectional=st.booleans(),
)
@settings(max_examples=40)
def test_layers_equal_the_equations(lengths: list[int], layers: int, bidirectional: bool) -> None:
    """Run each string over its own steps, whatever stands behind its end."""
    lstm = lstm_of(layers, bidirectional)
    steps = torch.randn(9, len(lengths), 3)  # two steps of padding at least
    run = checked(run_layers)
    states = run(lstm, lstm_weights(lstm), steps, torch.tensor(lengths)).detach().numpy()
    for row, length in enumerate(lengths):
        expected = layers_by_loop(lstm, steps[:length, row].double().numpy())
        np.testing.assert_allclose(states[:length, row], expected, atol=1e-6)


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


def pooled_by_loop(name: str, states: np.ndarray) -> np.ndarray:
    """Pool one string: states [length, 4], the second half of them read backwards."""
    if name == "mean":
        return sum(states) / len(states)
    if name == "max":
        return np.array([max(column) for column in states.T])
    if name == "attention":
        scores = [math.exp(float(np.tanh(state) @ WEIGHT.numpy())) for state in states]
        return sum(score / sum(scores) * state for score, state in zip(scores, states, strict=True))
    backward = states[0] if name == "last, both ways" else states[-1]
    return np.concatenate([states[-1][:2], backward[2:]])


@pytest.mark.thorough
@pytest.mark.parametrize("name", POOLS)
@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_pooling_equals_the_loop(name: str, lengths: list[int], seed: int) -> None:
    """Put 10⁶ into the steps behind a string; they get no gradient."""
    draw = torch.Generator().manual_seed(seed)
    states = torch.randn(8, len(lengths), 4, generator=draw)
    counted = inside(torch.tensor(lengths), 8)
    states = torch.where(counted[:, :, None], states, 1e6).requires_grad_()
    pooled = POOLS[name](states, torch.tensor(lengths))
    for row, length in enumerate(lengths):
        expected = pooled_by_loop(name, states[:length, row].detach().numpy())
        np.testing.assert_allclose(pooled[row].detach().numpy(), expected, atol=1e-5)
    pooled.sum().backward()
    assert not states.grad[~counted].any()


def test_attention_by_hand() -> None:
    """Take H = (atanh ½, 4), (0, 8) and padding; w = (2 ln 3, 0).

    M = tanh H begins with ½ and 0, so wM = ln 3 and 0; their softmax is α = 3/4 and 1/4, and
    r = 3/4 · (atanh ½, 4) + 1/4 · (0, 8) = (3/4 · 0.549306, 5). The padding, whose M is 1, would
    have had wM = 2 ln 3.
    """
    states = torch.tensor([[[math.atanh(0.5), 4.0]], [[0.0, 8.0]], [[50.0, 50.0]]])
    weight = torch.tensor([2 * math.log(3), 0.0])
    pooled = attended_state(states, torch.tensor([2]), weight)
    torch.testing.assert_close(pooled, torch.tensor([[0.75 * 0.549306, 5.0]]))


@pytest.mark.thorough
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3 * PIECE))
def test_rows_in_pieces_keep_their_places(sizes: list[int]) -> None:
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
