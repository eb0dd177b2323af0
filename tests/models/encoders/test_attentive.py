"""The attentive LSTM against its equations written out, for every unit, way and pooling."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import ATTENTIVE, ROWS, layers_by_loop, padded
from shapes import checked

from models.encoders.attentive import AttentiveEncoder


def by_equations(encoder: AttentiveEncoder, row: list[int]) -> np.ndarray:
    """Compute Bao et al. 2018, equations 1 to 9, over exactly the units of `row`."""
    vectors = encoder.vectors.weight.detach().double().numpy()
    h = layers_by_loop(encoder.lstm, vectors[row]).T  # one state a column
    if encoder.settings.pooling == "attention":
        w = encoder.attention.weight.detach().double().numpy()
        m = np.tanh(h)
        alpha = np.exp(w @ m) / np.exp(w @ m).sum()
        return (h @ alpha.T)[:, 0]
    if encoder.settings.pooling == "mean":
        return h.mean(axis=1)
    if encoder.settings.pooling == "max":
        return h.max(axis=1)
    hidden = encoder.settings.hidden
    return np.concatenate([h[:hidden, -1], h[hidden:, 0]])


@pytest.mark.thorough
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("pooling", ["attention", "last", "mean", "max"])
def test_equals_the_equations_in_any_batch(pooling: str, bidirectional: bool) -> None:
    torch.manual_seed(3)
    settings = replace(ATTENTIVE, pooling=pooling, bidirectional=bidirectional)
    encoder = AttentiveEncoder(settings, [9]).eval()
    embeddings = checked(AttentiveEncoder.forward)(encoder, *padded(ROWS)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_equations(encoder, row) for row in ROWS], atol=1e-6)
