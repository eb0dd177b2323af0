"""The attentive LSTM against its equations written out, for every unit, way and pooling."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import ROWS, layers_by_loop, padded
from shapes import checked

from models.encoders.attentive import AttentiveEncoder, AttentiveSettings

SETTINGS = AttentiveSettings(
    unit="word",
    max_length=8,
    dim_unit=5,
    hidden=3,
    bidirectional=False,
    pooling="attention",
    min_count=2,
    dropout=0.0,
)


def encoder_of(**changes: object) -> AttentiveEncoder:
    torch.manual_seed(3)
    return AttentiveEncoder(replace(SETTINGS, **changes), [9]).eval()


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
    encoder = encoder_of(pooling=pooling, bidirectional=bidirectional)
    embeddings = checked(AttentiveEncoder.forward)(encoder, *padded(ROWS)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_equations(encoder, row) for row in ROWS], atol=1e-6)
