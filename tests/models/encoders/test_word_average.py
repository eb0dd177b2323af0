"""The mean of word vectors against a loop, its padding and its one vector for unknown words."""

import numpy as np
import pytest
import torch
from encoder_checks import padded
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.encoders.word_average import WordAverageEncoder, WordAverageSettings

WORDS = 9


def encoder_of(dim: int = 4) -> WordAverageEncoder:
    torch.manual_seed(3)
    return WordAverageEncoder(WordAverageSettings(max_length=20, min_count=2, dim=dim), [WORDS])


def by_loop(encoder: WordAverageEncoder, row: list[int]) -> list[float]:
    table = encoder.words.weight.double().tolist()
    return [sum(table[word][d] for word in row) / len(row) for d in range(encoder.dim)]


@pytest.mark.thorough
@given(
    rows=st.lists(
        st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=7), min_size=1, max_size=5
    )
)
def test_equals_the_loop(rows: list[list[int]]) -> None:
    encoder = encoder_of()
    embeddings = checked(WordAverageEncoder.forward)(encoder, *padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_loop(encoder, row) for row in rows], atol=1e-6)
