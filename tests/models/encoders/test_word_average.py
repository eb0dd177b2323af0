"""The mean of word vectors against a loop, its padding and its one vector for unknown words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked
from torch.nn import functional

from models.encoders.word_average import WordAverageEncoder, WordAverageSettings
from models.text.units import UnitSettings

VALUES = {"max_length": 20, "min_count": 2, "dim": 4}
WORDS = 9
ROW = st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=7)
ROWS = st.lists(ROW, min_size=1, max_size=5)


def encoder_of(**changes: Any) -> WordAverageEncoder:
    torch.manual_seed(3)
    return WordAverageEncoder(WordAverageSettings(**VALUES | changes), [WORDS])


def batch_of(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([len(row) for row in rows])


def by_loop(encoder: WordAverageEncoder, row: list[int]) -> list[float]:
    table = encoder.words.weight.double().tolist()
    embedding = []
    for place in range(encoder.dim):
        total = 0.0
        for word in row:
            total += table[word][place]
        embedding.append(total / len(row))
    return embedding


@pytest.mark.thorough
@given(rows=ROWS)
@settings(deadline=None)
def test_equals_the_loop(rows: list[list[int]]) -> None:
    encoder = encoder_of()
    embeddings = encoder(*batch_of(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_loop(encoder, row) for row in rows], atol=1e-6)


def test_mean_by_hand() -> None:
    """Average (1, 0), (1, 0) and (-0.5, 3): (1.5 / 3, 3 / 3); a word said twice counts twice."""
    encoder = encoder_of(dim=2)
    with torch.no_grad():
        encoder.words.weight[2] = torch.tensor([1.0, 0.0])
        encoder.words.weight[3] = torch.tensor([-0.5, 3.0])
    embeddings = encoder(*batch_of([[2, 2, 3], [2]]))
    torch.testing.assert_close(embeddings, torch.tensor([[0.5, 1.0], [1.0, 0.0]]))


def test_shapes_the_empty_batch_and_a_title_without_a_word() -> None:
    """Give zeros without a word. The gradient there, 1e12 under a unit norm, moves nothing."""
    encoder = encoder_of(dim=5)
    forward = checked(WordAverageEncoder.forward)
    assert forward(encoder, *batch_of([[1, 2], [3]])).shape == (2, 5)
    none = torch.zeros(0, 3, dtype=torch.long)
    assert forward(encoder, none, none[:, 0]).shape == (0, 5)
    embeddings = forward(encoder, *batch_of([[0], [2, 3]]))
    assert (embeddings[0] == 0).all()
    functional.normalize(embeddings, dim=1).sum().backward()
    assert encoder.words.weight.grad.abs().max() < 1e3


def test_gradients_reach_all_and_padding_stays_zero() -> None:
    encoder = encoder_of()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1)
    encoder(*batch_of([list(range(1, WORDS)), [2]])).square().sum().backward()
    assert (encoder.words.weight.grad[1:] != 0).all()
    before = encoder.words.weight.detach().clone()
    optimizer.step()
    assert (encoder.words.weight[0] == 0).all()
    assert (encoder.words.weight[1:] != before[1:]).all()


def test_reads_words() -> None:
    assert WordAverageEncoder.units(WordAverageSettings(max_length=12, min_count=3, dim=6)) == (
        UnitSettings("word", 12, min_count=3),
    )
    assert encoder_of(dim=6).dim == 6
