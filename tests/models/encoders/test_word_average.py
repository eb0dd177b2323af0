"""The mean of word vectors against a loop."""

import numpy as np
import pytest
import torch
from encoder_checks import padded
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.encoders.word_average import WordAverageEncoder, WordAverageSettings


def by_loop(encoder: WordAverageEncoder, row: list[int]) -> list[float]:
    table = encoder.words.weight.double().tolist()
    return [sum(table[word][d] for word in row) / len(row) for d in range(encoder.dim)]


@pytest.mark.thorough
@given(st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=7), min_size=1, max_size=5))
def test_equals_the_loop(rows: list[list[int]]) -> None:
    torch.manual_seed(3)
    encoder = WordAverageEncoder(WordAverageSettings(max_length=20, min_count=2, dim=4), [9])
    embeddings = checked(WordAverageEncoder.forward)(encoder, *padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_loop(encoder, row) for row in rows], atol=1e-6)
