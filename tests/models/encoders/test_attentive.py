"""The attentive LSTM against its equations written out, for every unit, way and pooling."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import ROWS, check_dropout, layers_by_loop, padded
from shapes import checked

from models.encoders.attentive import AttentiveEncoder, AttentiveSettings
from models.text.units import UnitSettings

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


def test_dropout_on_the_vectors_in_training_only() -> None:
    check_dropout(encoder_of(dropout=0.5))
    check_dropout(encoder_of(), drops=False)


def test_units() -> None:
    assert AttentiveEncoder.units(SETTINGS) == (UnitSettings("word", 8, min_count=2),)
    characters = replace(SETTINGS, unit="character", max_length=50)
    assert AttentiveEncoder.units(characters) == (UnitSettings("character", 50),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "ngram"}, "unit = 'ngram'; choose character or word"),
        ({"max_length": 0}, "max_length = 0 words; choose 1 to 1000"),
        ({"unit": "character", "max_length": 3}, "max_length = 3 characters; choose 4 to 1000"),
        ({"pooling": "sum"}, "pooling = 'sum'; choose attention, last, mean or max"),
        ({"min_count": 0}, "min_count = 0; choose 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0; choose 0 or more, below 1"),
    ],
)
def test_refuses_what_cannot_work(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SETTINGS, **changes)
