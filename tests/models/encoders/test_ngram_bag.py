"""The bag of n-grams against equation 1 in a loop, its gradient, and whole words."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import BAG, padded
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from models.encoders.ngram_bag import NgramBagEncoder, RowSums
from models.text.featurizer import Featurizer

ROWS = st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=7), min_size=1, max_size=5)


def by_equation_1(encoder: NgramBagEncoder, row: list[int]) -> list[float]:
    """Compute h(b + Σ W), one n-gram and one dimension after the other; ids of 0 add nothing."""
    table = encoder.ngrams.weight.double().tolist()
    bias = [0.0] * encoder.dim if encoder.bias is None else encoder.bias.double().tolist()
    sums = [bias[d] + sum(table[ngram][d] for ngram in row if ngram) for d in range(encoder.dim)]
    return [math.tanh(s) for s in sums] if encoder.settings.activation == "tanh" else sums


@pytest.mark.thorough
@given(rows=ROWS, activation=st.sampled_from(["tanh", "linear"]), bias=st.booleans())
def test_equals_equation_1(rows: list[list[int]], activation: str, bias: bool) -> None:
    torch.manual_seed(3)
    encoder = NgramBagEncoder(replace(BAG, activation=activation, bias=bias), [9])
    embeddings = encoder(*padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_equation_1(encoder, row) for row in rows], atol=1e-6)


@given(st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=1, max_size=5))
def test_row_sums_and_their_gradient_are_those_of_embedding_bag(strings: list[list[int]]) -> None:
    """Repeated units, and strings without any."""
    torch.manual_seed(1)
    one = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    other = one.detach().clone().requires_grad_()
    units = torch.tensor([unit for string in strings for unit in string], dtype=torch.long)
    counts = torch.tensor([len(string) for string in strings])
    sums = RowSums.apply(one, units, counts)
    expected = functional.embedding_bag(units, other, counts.cumsum(0) - counts, mode="sum")
    torch.testing.assert_close(sums, expected)
    sums.sin().sum().backward()
    expected.sin().sum().backward()
    torch.testing.assert_close(one.grad.to_dense(), other.grad)
    assert sorted(set(units.tolist())) == one.grad._indices()[0].tolist()


def test_whole_words_are_units_of_the_vocabulary() -> None:
    """Short ones are n-grams besides; of every word the unit is there, and no other word's."""
    made = replace(BAG, within="word")
    titles = ["a c++ coder", "café-owner"]
    known = Featurizer.fit(titles, NgramBagEncoder.units(made)).vocabularies[0].known
    words = {
        unit.strip() for unit in known if unit[0] == unit[-1] == " " and len(unit.split()) == 1
    }
    assert words == {"a", "c++", "coder", "café", "owner"}
