"""Pooling by hand, by loop, and blind to what stands behind a string."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.encoders.shared.pooling import (
    attended_state,
    inside,
    largest_state,
    last_state,
    mean_state,
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


def by_loop(name: str, states: np.ndarray) -> np.ndarray:
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
def test_equals_the_loop_whatever_the_padding(name: str, lengths: list[int], seed: int) -> None:
    """Put 10⁶ into the steps behind a string; they get no gradient."""
    draw = torch.Generator().manual_seed(seed)
    states = torch.randn(8, len(lengths), 4, generator=draw)
    counted = inside(torch.tensor(lengths), 8)
    states = torch.where(counted[:, :, None], states, 1e6).requires_grad_()
    pooled = POOLS[name](states, torch.tensor(lengths))
    for row, length in enumerate(lengths):
        expected = by_loop(name, states[:length, row].detach().numpy())
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


def test_inside() -> None:
    assert checked(inside)(torch.tensor([1, 3]), 3).int().tolist() == [[1, 1], [0, 1], [0, 1]]
