"""The recurrent encoder against the equations written out, and its two modes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shapes import checked
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from models.recurrent import PIECE, RecurrentEncoder, RecurrentSettings

Build = Callable[..., RecurrentSettings]
VOCABULARY = 9


def encoder_of(settings: RecurrentSettings) -> RecurrentEncoder:
    torch.manual_seed(3)
    return RecurrentEncoder(settings, VOCABULARY).eval()


def batch_of(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([len(row) for row in rows])


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(steps: np.ndarray, weights: dict[str, np.ndarray], suffix: str) -> np.ndarray:
    """Neculoiu et al. 2016, equations 1 to 6, one step after the other; torch's gate order."""
    w, u = weights[f"blstm.weight_ih_{suffix}"], weights[f"blstm.weight_hh_{suffix}"]
    b = weights[f"blstm.bias_ih_{suffix}"] + weights[f"blstm.bias_hh_{suffix}"]
    h = c = np.zeros(u.shape[1])
    hidden = []
    for x in steps:
        wi, wf, wc, wo = np.split(w @ x, 4)
        ui, uf, uc, uo = np.split(u @ h, 4)
        bi, bf, bc, bo = np.split(b, 4)
        i = sigmoid(wi + ui + bi)
        f = sigmoid(wf + uf + bf)
        candidate = np.tanh(wc + uc + bc)
        c = i * candidate + f * c
        o = sigmoid(wo + uo + bo)
        h = o * np.tanh(c)
        hidden.append(h)
    return np.array(hidden)


def by_equations(encoder: RecurrentEncoder, row: list[int]) -> np.ndarray:
    """Stacked BLSTM over exactly the characters of `row`, mean, dense, unit norm."""
    weights = {k: v.double().numpy() for k, v in encoder.state_dict().items()}
    steps = weights["characters.weight"][row]
    for layer in range(encoder.settings.layers):
        forward = lstm(steps, weights, f"l{layer}")
        backward = lstm(steps[::-1], weights, f"l{layer}_reverse")[::-1]
        steps = np.concatenate([forward, backward], axis=1)
    dense = weights["dense.weight"] @ steps.mean(axis=0) + weights["dense.bias"]
    return dense / np.linalg.norm(dense)


ROWS = st.lists(
    st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=7), min_size=1, max_size=5
)
FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


@given(rows=ROWS)
@FIXTURES
def test_equals_the_equations(encoder_settings: Build, rows: list[list[int]]) -> None:
    encoder = encoder_of(encoder_settings(layers=3, hidden=3, dim=4, max_length=7))
    found = encoder(*batch_of(rows)).detach().numpy()
    np.testing.assert_allclose(found, [by_equations(encoder, row) for row in rows], atol=1e-6)


@given(rows=ROWS)
@FIXTURES
def test_paper_mode_reads_the_whole_window(encoder_settings: Build, rows: list[list[int]]) -> None:
    """In evaluation the string is at offset 0 and the mean is over padding too."""
    encoder = encoder_of(encoder_settings(mode="paper", layers=2, hidden=3, dim=4, max_length=9))
    found = encoder(*batch_of(rows)).detach().numpy()
    padded = [row + [0] * (9 - len(row)) for row in rows]
    np.testing.assert_allclose(found, [by_equations(encoder, row) for row in padded], atol=1e-6)


def test_paper_mode_equals_plain_lstm_over_100_steps(encoder_settings: Build) -> None:
    encoder = encoder_of(encoder_settings(mode="paper", max_length=100, layers=4))
    ids, lengths = batch_of([[1, 2, 3], [4] * 100, [5]])
    padded = functional.pad(ids, (0, 100 - ids.shape[1]))
    hidden, _ = encoder.blstm(encoder.characters(padded.T))
    assert hidden.shape[0] == 100
    expected = functional.normalize(encoder.dense(hidden.sum(0) / 100), dim=-1)
    torch.testing.assert_close(encoder(ids, lengths), expected, atol=1e-6, rtol=0)


@given(row=st.lists(st.integers(0, 8), min_size=1, max_size=12), others=ROWS, place=st.integers(0))
@FIXTURES
def test_fast_mode_does_not_see_the_batch(
    encoder_settings: Build, row: list[int], others: list[list[int]], place: int
) -> None:
    encoder = encoder_of(encoder_settings(layers=4, hidden=8))
    place %= len(others) + 1
    together = encoder(*batch_of([*others[:place], row, *others[place:]]))[place]
    alone = encoder(*batch_of([row]))[0]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    assert abs(alone.norm().item() - 1) < 1e-5


def test_window_is_placed_at_random_in_training_only(encoder_settings: Build) -> None:
    """Three characters in a window of 5 have the offsets 0, 1 and 2, each a third of the time."""
    encoder = encoder_of(encoder_settings(mode="paper", max_length=5))
    ids, lengths = batch_of([[7, 8, 6]] * 3000 + [[1, 2, 3, 4, 5]])
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
def test_shapes_and_the_empty_batch(encoder_settings: Build, mode: str) -> None:
    encoder = encoder_of(encoder_settings(mode=mode, dim=5))
    forward = checked(RecurrentEncoder.forward)
    assert forward(encoder, *batch_of([[1, 2], [3]])).shape == (2, 5)
    assert forward(encoder, *batch_of([[1]])).shape == (1, 5)
    none = torch.zeros(0, 3, dtype=torch.long)
    assert forward(encoder, none, none[:, 0]).shape == (0, 5)


def test_a_long_batch_in_pieces_equals_one_by_one(encoder_settings: Build) -> None:
    """More strings than a piece holds, of mixed lengths: sorted, cut, and put back in order."""
    encoder = encoder_of(encoder_settings(layers=2, max_length=30))
    draw = torch.Generator().manual_seed(0)
    rows = [torch.randint(1, 9, (n % 30 + 1,), generator=draw).tolist() for n in range(3 * PIECE)]
    together = encoder(*batch_of(rows))
    alone = torch.cat([encoder(*batch_of([row])) for row in rows])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_gradients_equal_those_of_a_plain_blstm(encoder_settings: Build) -> None:
    """Packed sequences through `torch.nn.LSTM`, autograd's gradients for all parameters."""
    encoder = encoder_of(encoder_settings(layers=3, dropout_recurrent=0.0))
    ids, lengths = batch_of([[1, 2, 3, 4, 5], [6], [7, 8], [2, 2, 2]])
    goal = torch.randn(4, encoder.settings.dim, generator=torch.Generator().manual_seed(1))
    (encoder(ids, lengths) * goal).sum().backward()
    found = {name: parameter.grad.clone() for name, parameter in encoder.named_parameters()}
    encoder.zero_grad()
    packed = pack_padded_sequence(encoder.characters(ids.T), lengths, enforce_sorted=False)
    hidden, _ = pad_packed_sequence(encoder.blstm(packed)[0])
    plain = functional.normalize(encoder.dense(hidden.sum(0) / lengths[:, None]), dim=-1)
    (plain * goal).sum().backward()
    for name, parameter in encoder.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, atol=1e-6, rtol=1e-4)


def test_recurrent_dropout_is_for_training_and_leaves_the_weights(
    encoder_settings: Build,
) -> None:
    encoder = encoder_of(encoder_settings(dropout_recurrent=0.5))
    batch = batch_of([[1, 2, 3, 4], [5, 6]])
    before = {k: v.clone() for k, v in encoder.state_dict().items()}
    quiet = encoder(*batch)
    assert torch.equal(quiet, encoder(*batch))
    encoder.train()
    one, other = encoder(*batch), encoder(*batch)
    assert not torch.allclose(one, other)
    one.sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())
    assert all(torch.equal(v, before[k]) for k, v in encoder.state_dict().items())
    assert torch.equal(encoder.eval()(*batch), quiet)


def test_recurrent_dropout_keeps_the_expectation(encoder_settings: Build) -> None:
    """Only hidden-to-hidden weights: 0 with probability 0.2, else over 0.8; the mean stays."""
    encoder = encoder_of(encoder_settings(dropout_recurrent=0.2, layers=2)).train()
    whole = dict(encoder.blstm.named_parameters())
    draws: dict[str, list[torch.Tensor]] = {name: [] for name in whole}
    torch.manual_seed(0)
    for _ in range(400):
        for name, value in encoder._dropped_weights().items():
            draws[name].append(value.detach())
    for name, values in draws.items():
        drawn = torch.stack(values)
        if not name.startswith("weight_hh"):
            assert (drawn == whole[name]).all()
            continue
        kept = drawn != 0
        torch.testing.assert_close(drawn[kept], (whole[name] / 0.8).expand_as(drawn)[kept])
        assert abs(kept.double().mean().item() - 0.8) < 0.005
        assert ((drawn.mean(0) / whole[name]) - 1).abs().max() < 0.15


@pytest.mark.parametrize(("layers", "differs"), [(1, False), (2, True)])
def test_dropout_between_layers_where_there_is_a_between(
    encoder_settings: Build, layers: int, differs: bool
) -> None:
    settings = encoder_settings(layers=layers, dropout_recurrent=0.0, dropout_between=0.5)
    encoder, batch = encoder_of(settings), batch_of([[1, 2, 3]])
    assert torch.equal(encoder(*batch), encoder(*batch))
    encoder.train()
    assert torch.allclose(encoder(*batch), encoder(*batch)) != differs
