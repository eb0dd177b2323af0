"""The recurrent encoder against the equations written out, and its two modes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import SMALL_RECURRENT, layers_by_loop, padded
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked
from torch import nn

from models.encoders.recurrent import RecurrentEncoder

WINDOW = 9
IDS = st.integers(0, 8)


def encoder_of(**changes: object) -> RecurrentEncoder:
    torch.manual_seed(3)
    return RecurrentEncoder(replace(SMALL_RECURRENT, **changes), [9]).eval()


def by_equations(encoder: RecurrentEncoder, row: list[int]) -> np.ndarray:
    """Run a stacked BLSTM over exactly the characters of `row`, then mean and dense."""
    weights = {k: v.double().numpy() for k, v in encoder.state_dict().items()}
    states = layers_by_loop(encoder.blstm, weights["characters.weight"][row])
    return weights["dense.weight"] @ states.mean(axis=0) + weights["dense.bias"]


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["paper", "fast"])
@given(rows=st.lists(st.lists(IDS, min_size=1, max_size=7), min_size=1, max_size=5))
@settings(max_examples=40)
def test_equals_the_equations(mode: str, rows: list[list[int]]) -> None:
    """Paper mode puts the string at offset 0 in evaluation; the mean is over padding too."""
    encoder = encoder_of(mode=mode, layers=3, hidden=3, dim=4, max_length=WINDOW)
    embeddings = checked(RecurrentEncoder.forward)(encoder, *padded(rows)).detach().numpy()
    read = [row + [0] * (WINDOW - len(row)) for row in rows] if mode == "paper" else rows
    np.testing.assert_allclose(embeddings, [by_equations(encoder, row) for row in read], atol=1e-6)


def test_window_is_placed_at_random_in_training_only() -> None:
    """Place three characters in a window of 5 at offsets 0, 1 and 2, each a third of the time."""
    encoder = encoder_of(mode="paper", max_length=5)
    ids, lengths = padded([[7, 8, 6]] * 3000 + [[1, 2, 3, 4, 5]])
    window = checked(RecurrentEncoder._window)
    still = window(encoder, ids, lengths)
    assert (still[:-1] == torch.tensor([7, 8, 6, 0, 0])).all()
    torch.manual_seed(0)
    moved = window(encoder.train(), ids, lengths)
    assert moved[-1].tolist() == [1, 2, 3, 4, 5]
    seen, counts = moved[:-1].unique(dim=0, return_counts=True)
    assert seen.tolist() == [[0, 0, 7, 8, 6], [0, 7, 8, 6, 0], [7, 8, 6, 0, 0]]
    assert ((counts / 3000 - 1 / 3).abs() < 0.04).all()  # 4.6 standard deviations


def test_weights_begin_as_the_layers_make_them_and_keep_their_names() -> None:
    """Load weights of earlier models; a seed means what it meant: characters, blstm, dense."""
    torch.manual_seed(3)
    parts = {
        "characters": nn.Embedding(9, 8),
        "blstm": nn.LSTM(8, 12, num_layers=2, bidirectional=True),
        "dense": nn.Linear(24, 12),
    }
    expected = nn.ModuleDict(parts).state_dict()
    state = encoder_of(layers=2).state_dict()
    assert list(state) == list(expected)
    assert all(torch.equal(state[name], value) for name, value in expected.items())
