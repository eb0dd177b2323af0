"""Stacked LSTMs against a loop over the equations; what dropout may and may not touch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from encoder_checks import layers_by_loop
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked
from torch import nn

from models.encoders.shared.lstm_layers import lstm_weights, run_layers

LENGTHS = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def lstm_of(layers: int = 2, bidirectional: bool = True) -> nn.LSTM:
    torch.manual_seed(4)
    return nn.LSTM(3, 4, num_layers=layers, bidirectional=bidirectional)


@pytest.mark.thorough
@given(lengths=LENGTHS, layers=st.integers(1, 3), bidirectional=st.booleans())
@settings(max_examples=40)
def test_equals_the_equations(lengths: list[int], layers: int, bidirectional: bool) -> None:
    """Run each string over its own steps, whatever stands behind its end."""
    lstm = lstm_of(layers, bidirectional)
    steps = torch.randn(9, len(lengths), 3)  # two steps of padding at least
    run = checked(run_layers)
    states = run(lstm, lstm_weights(lstm), steps, torch.tensor(lengths)).detach().numpy()
    for row, length in enumerate(lengths):
        expected = layers_by_loop(lstm, steps[:length, row].double().numpy())
        np.testing.assert_allclose(states[:length, row], expected, atol=1e-6)


def test_gradients_equal_those_of_the_packed_lstm() -> None:
    lstm, lengths = lstm_of(), torch.tensor([5, 2, 1])
    steps = torch.randn(5, 3, 3, requires_grad=True)
    inside = torch.arange(5)[:, None, None] < lengths[:, None]
    goal = torch.randn(5, 3, 8) * inside
    (run_layers(lstm, lstm_weights(lstm), steps, lengths) * goal).sum().backward()
    gradients = [value.grad.clone() for value in (steps, *lstm.parameters())]
    steps.grad = None
    lstm.zero_grad()
    packed = nn.utils.rnn.pack_padded_sequence(steps, lengths)
    (nn.utils.rnn.pad_packed_sequence(lstm(packed)[0])[0] * goal).sum().backward()
    for gradient, value in zip(gradients, (steps, *lstm.parameters()), strict=True):
        torch.testing.assert_close(gradient, value.grad, atol=1e-6, rtol=1e-4)


def test_weight_dropping_keeps_the_expectation() -> None:
    """Drop only hidden-to-hidden weights: 0 with probability 0.2, else over 0.8; the mean stays."""
    lstm = lstm_of()
    whole = dict(lstm.named_parameters())
    torch.manual_seed(0)
    draws = [lstm_weights(lstm, 0.2) for _ in range(400)]
    for name in whole:
        drawn = torch.stack([draw[name].detach() for draw in draws])
        if not name.startswith("weight_hh"):
            assert (drawn == whole[name]).all()
            continue
        kept = drawn != 0
        torch.testing.assert_close(drawn[kept], (whole[name] / 0.8).expand_as(drawn)[kept])
        assert abs(kept.double().mean().item() - 0.8) < 0.01
        assert ((drawn.mean(0) / whole[name]) - 1).abs().max() < 0.15


def test_weights_are_whole_outside_training_and_without_dropout() -> None:
    lstm = lstm_of()
    for weights in (lstm_weights(lstm), lstm_weights(lstm.eval(), 0.5)):
        assert all(weights[name] is value for name, value in lstm.named_parameters())


@pytest.mark.parametrize(("layers", "differs"), [(1, False), (2, True)])
def test_dropout_between_layers_where_there_is_a_between(layers: int, differs: bool) -> None:
    lstm, lengths = lstm_of(layers), torch.tensor([3, 1])
    steps = torch.randn(3, 2, 3)

    def states() -> torch.Tensor:
        return run_layers(lstm, lstm_weights(lstm), steps, lengths, 0.5)

    assert torch.equal(states(), states()) != differs
    lstm.eval()
    assert torch.equal(states(), states())
