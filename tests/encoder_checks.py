"""What tests of several encoders share: padded batches, LSTMs by loop, what every encoder keeps."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import nn

from models.encoders.recurrent import RecurrentSettings
from models.network.encoder import Encoder

SMALL_RECURRENT = RecurrentSettings(
    mode="fast",
    max_length=24,
    dim_character=8,
    layers=1,
    hidden=12,
    dim=12,
    dropout_recurrent=0.1,
    dropout_between=0.0,
)
ROWS = [[1, 2, 3, 4], [5], [8, 7, 6, 5, 4, 3, 2], [2, 2]]
"""Ids of four strings, 8 the largest."""


def padded(rows: list[list[int]], more: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids padded with 0 to the longest row and `more` behind it, and lengths."""
    longest = max(map(len, rows)) + more
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([len(row) for row in rows])


def check_encoder(encoder: Encoder) -> None:
    """Any batch and a trace give a string one embedding; each parameter gets a gradient."""
    rows = ROWS * 15  # more than one piece
    encoder.eval()
    together = encoder(*padded(rows))
    assert together.shape == (len(rows), encoder.dim)
    torch.testing.assert_close(encoder(*padded(rows, more=3)), together, atol=1e-6, rtol=0)
    for embedding, row in zip(together, ROWS, strict=False):
        torch.testing.assert_close(encoder(*padded([row]))[0], embedding, atol=1e-6, rtol=0)
    none = torch.zeros(0, 3, dtype=torch.long)
    assert encoder(none, none[:, 0]).shape == (0, encoder.dim)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of the tracer, which says what it cannot prove
        traced = torch.jit.trace(encoder, padded([[1, 2, 3, 4, 5, 6], [2, 2, 2, 2], [3]]))
        for rows in ([[4, 5, 6, 7]], [[1], [2, 3]], [[3, 2]] * 5, [[1], [7, 6, 5, 4, 3, 2, 1]]):
            batch = padded(rows)
            torch.testing.assert_close(traced(*batch), encoder(*batch), atol=1e-6, rtol=0)
    encoder.train()
    encoder(*padded(ROWS)).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def check_dropout(encoder: Encoder, drops: bool = True) -> None:
    """In training two calls differ if it `drops`, in evaluation they never do; weights stay."""
    batch, before = padded(ROWS), {k: v.clone() for k, v in encoder.state_dict().items()}
    quiet = encoder.eval()(*batch)
    assert torch.equal(encoder(*batch), quiet)
    encoder.train()
    assert torch.equal(encoder(*batch), encoder(*batch)) != drops
    assert all(torch.equal(v, before[k]) for k, v in encoder.state_dict().items())
    assert torch.equal(encoder.eval()(*batch), quiet)


def layers_by_loop(lstm: nn.LSTM, steps: np.ndarray, output_gate: bool = True) -> np.ndarray:
    """Stacked LSTMs over the steps of one string [length, width], one or both ways."""
    for layer in range(lstm.num_layers):
        states = lstm_by_loop(lstm, f"l{layer}", steps, output_gate)
        if lstm.bidirectional:
            backward = lstm_by_loop(lstm, f"l{layer}_reverse", steps[::-1], output_gate)[::-1]
            states = np.concatenate([states, backward], axis=1)
        steps = states
    return steps


def lstm_by_loop(lstm: nn.LSTM, suffix: str, steps: np.ndarray, output_gate: bool) -> np.ndarray:
    """Neculoiu et al. 2016, equations 1 to 6, one step after the other; torch's gate order."""
    named = {name: value.detach().double().numpy() for name, value in lstm.named_parameters()}
    w, u = named[f"weight_ih_{suffix}"], named[f"weight_hh_{suffix}"]
    b = named[f"bias_ih_{suffix}"] + named[f"bias_hh_{suffix}"]
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
        o = sigmoid(wo + uo + bo) if output_gate else 1.0
        h = o * np.tanh(c)
        hidden.append(h)
    return np.array(hidden)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
