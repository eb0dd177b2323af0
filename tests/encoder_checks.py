"""Small settings, padded batches and LSTMs by loop, for the tests of several encoders."""

import numpy as np
import torch
from torch import nn

from models.encoders.attentive import AttentiveSettings
from models.encoders.convolution import ConvolutionSettings
from models.encoders.ngram_bag import NgramBagSettings
from models.encoders.recurrent import RecurrentSettings

SHAPE = {"max_length": 24, "dim_character": 8, "layers": 1, "hidden": 12, "dim": 12}
DROPOUT = {"dropout_recurrent": 0.1, "dropout_between": 0.0}
SMALL_RECURRENT = RecurrentSettings(mode="fast", **SHAPE, **DROPOUT)
ATTENTIVE = AttentiveSettings("word", 8, 5, 3, False, "attention", 2, 0.0)
CONVOLUTION = ConvolutionSettings(8, 5, (1, 2, 4), (3, 4, 2), "tanh", "linear", 6, 0.0)
BAG = NgramBagSettings((2, 3, 4), 100, 1, 0, 0, "tanh", True, 4)
ROWS = [[1, 2, 3, 4], [5], [8, 7, 6, 5, 4, 3, 2], [2, 2]]  # ids of four strings, 8 the largest


def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids padded with 0 to the longest row, and lengths."""
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([len(row) for row in rows])


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
