"""The recurrent encoder against the equations written out, and its two modes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import (
    SMALL_RECURRENT,
    check_dropout,
    check_gradients,
    check_traced,
    layers_by_loop,
    padded,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked
from torch import nn

from models.encoders.recurrent import RecurrentEncoder
from models.text.units import UnitSettings

VOCABULARY = 9


def encoder_of(**changes: object) -> RecurrentEncoder:
    torch.manual_seed(3)
    return RecurrentEncoder(replace(SMALL_RECURRENT, **changes), [VOCABULARY]).eval()


def by_equations(encoder: RecurrentEncoder, row: list[int]) -> np.ndarray:
    """Run a stacked BLSTM over exactly the characters of `row`, then mean and dense."""
    weights = {k: v.double().numpy() for k, v in encoder.state_dict().items()}
    states = layers_by_loop(encoder.blstm, weights["characters.weight"][row])
    return weights["dense.weight"] @ states.mean(axis=0) + weights["dense.bias"]


ROWS = st.lists(
    st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=7), min_size=1, max_size=5
)
FEW = settings(max_examples=40)


@pytest.mark.thorough
@given(rows=ROWS)
@FEW
def test_equals_the_equations(rows: list[list[int]]) -> None:
    encoder = encoder_of(layers=3, hidden=3, dim=4, max_length=7)
    embeddings = encoder(*padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_equations(encoder, row) for row in rows], atol=1e-6)


@pytest.mark.thorough
@given(rows=ROWS)
@FEW
def test_paper_mode_reads_the_whole_window(rows: list[list[int]]) -> None:
    """Put the string at offset 0 in evaluation; the mean is over padding too."""
    encoder = encoder_of(mode="paper", layers=2, hidden=3, dim=4, max_length=9)
    embeddings = encoder(*padded(rows)).detach().numpy()
    filled = [row + [0] * (9 - len(row)) for row in rows]
    np.testing.assert_allclose(
        embeddings, [by_equations(encoder, row) for row in filled], atol=1e-6
    )


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


@pytest.mark.parametrize("mode", ["paper", "fast"])
def test_shapes_and_the_empty_batch(mode: str) -> None:
    encoder = encoder_of(mode=mode, dim=5)
    forward = checked(RecurrentEncoder.forward)
    assert forward(encoder, *padded([[1, 2], [3]])).shape == (2, 5)
    assert forward(encoder, *padded([[1]])).shape == (1, 5)
    none = torch.zeros(0, 3, dtype=torch.long)
    assert forward(encoder, none, none[:, 0]).shape == (0, 5)


def test_recurrent_dropout_is_for_training_and_leaves_the_weights() -> None:
    encoder = encoder_of(dropout_recurrent=0.5)
    batch = padded([[1, 2, 3, 4], [5, 6]])
    before = {k: v.clone() for k, v in encoder.state_dict().items()}
    quiet = encoder(*batch)
    assert torch.equal(quiet, encoder(*batch))
    encoder.train()
    first, second = encoder(*batch), encoder(*batch)
    assert not torch.allclose(first, second)
    first.sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())
    assert all(torch.equal(v, before[k]) for k, v in encoder.state_dict().items())
    assert torch.equal(encoder.eval()(*batch), quiet)


@pytest.mark.parametrize(("layers", "differs"), [(1, False), (2, True)])
def test_dropout_between_layers_where_there_is_a_between(layers: int, differs: bool) -> None:
    encoder = encoder_of(layers=layers, dropout_recurrent=0.0, dropout_between=0.5)
    check_dropout(encoder, [[1, 2, 3]], drops=differs)


def test_weights_begin_as_the_layers_make_them_and_keep_their_names() -> None:
    """Load weights of earlier models; a seed means what it meant: characters, blstm, dense."""
    torch.manual_seed(3)
    parts = {
        "characters": nn.Embedding(VOCABULARY, 8),
        "blstm": nn.LSTM(8, 12, num_layers=2, bidirectional=True),
        "dense": nn.Linear(24, 12),
    }
    expected = nn.ModuleDict(parts).state_dict()
    state = encoder_of(layers=2).state_dict()
    assert list(state) == list(expected)
    assert all(torch.equal(state[name], value) for name, value in expected.items())


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["paper", "fast"])
def test_gradients_and_a_trace(mode: str) -> None:
    encoder = encoder_of(mode=mode, layers=2)
    check_gradients(encoder, [[1, 2, 3, 4], [5]])
    check_traced(encoder)


def test_units() -> None:
    assert RecurrentEncoder.units(SMALL_RECURRENT) == (UnitSettings("character", 24),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_length": 3}, "max_length = 3; choose 4 to 1000 characters"),
        ({"max_length": 1001}, "max_length = 1001; choose 4 to 1000 characters"),
    ],
)
def test_refuses_what_cannot_work(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL_RECURRENT, **changes)
