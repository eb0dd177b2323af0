"""The bag of n-grams against equation 1 in a loop, its padding, and what it refuses."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from encoder_checks import padded
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from models.encoders.ngram_bag import NgramBagEncoder, NgramBagSettings, RowSums
from models.text.featurizer import Featurizer
from models.text.units import UnitSettings

VALUES: dict[str, Any] = {
    "orders": (2, 3, 4),
    "max_length": 100,
    "min_count": 1,
    "most": 0,
    "buckets": 0,
    "activation": "tanh",
    "bias": True,
    "dim": 4,
}
NGRAMS = 9
ROWS = st.lists(
    st.lists(st.integers(1, NGRAMS - 1), min_size=1, max_size=7), min_size=1, max_size=5
)


def encoder_of(**changes: Any) -> NgramBagEncoder:
    torch.manual_seed(3)
    return NgramBagEncoder(NgramBagSettings(**VALUES | changes), [NGRAMS])


def by_equation_1(encoder: NgramBagEncoder, row: list[int]) -> list[float]:
    """Compute h(b + Σ W), one n-gram and one dimension after the other; ids of 0 add nothing."""
    table = encoder.ngrams.weight.double().tolist()
    bias = [0.0] * encoder.dim if encoder.bias is None else encoder.bias.double().tolist()
    sums = [bias[d] + sum(table[ngram][d] for ngram in row if ngram) for d in range(encoder.dim)]
    return [math.tanh(s) for s in sums] if encoder.settings.activation == "tanh" else sums


@pytest.mark.thorough
@given(rows=ROWS, activation=st.sampled_from(["tanh", "linear"]), bias=st.booleans())
def test_equals_equation_1(rows: list[list[int]], activation: str, bias: bool) -> None:
    encoder = encoder_of(activation=activation, bias=bias)
    embeddings = encoder(*padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_equation_1(encoder, row) for row in rows], atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_a_title_without_a_known_ngram(bias: bool) -> None:
    """Expect tanh(b), which is no vector of zeros, and without b one of zeros.

    The gradient of the unit norm is 1e12 at zeros; there is nothing there that it could move.
    """
    encoder = encoder_of(bias=bias)
    embeddings = encoder(*padded([[0], [2, 3]]))
    expected = encoder.bias.tanh() if encoder.bias is not None else torch.zeros(4)
    torch.testing.assert_close(embeddings[0], expected)
    assert (embeddings[0].norm() > 0) == bias
    functional.normalize(embeddings, dim=1).sum().backward()
    for parameter in encoder.parameters():
        assert parameter.grad.abs().max() < 1e3


def test_padding_stays_zero() -> None:
    encoder = encoder_of()
    encoder(*padded([[1, 2, 3, 4], [5], [8, 7, 6]])).square().sum().backward()
    before = encoder.ngrams.weight.detach().clone()
    torch.optim.Adam(encoder.parameters(), lr=0.1).step()
    assert (encoder.ngrams.weight != before).any(1).tolist() == [False] + [True] * (NGRAMS - 1)


def test_reads_the_ngrams_of_its_settings() -> None:
    changes = {"orders": (3, 5), "max_length": 30, "min_count": 2, "most": 1000, "dim": 7}
    encoder = encoder_of(**changes, bias=False)
    expected = UnitSettings("ngram", 30, orders=(3, 5), min_count=2, most=1000, buckets=0)
    assert NgramBagEncoder.units(encoder.settings) == (expected,)
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 7 * NGRAMS
    assert encoder.dim == 7


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
    made = NgramBagSettings(**VALUES | {"within": "word"})
    titles = ["a c++ coder", "café-owner"]
    known = Featurizer.fit(titles, NgramBagEncoder.units(made)).vocabularies[0].known
    words = {
        unit.strip() for unit in known if unit[0] == unit[-1] == " " and len(unit.split()) == 1
    }
    assert words == {"a", "c++", "coder", "café", "owner"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"orders": ()}, r"orders = \(\)"),
        ({"orders": (2, 2)}, "each length once"),
        ({"orders": (0, 2)}, "choose from 1 to max_length"),
        ({"orders": (2, 8), "max_length": 5}, r"max_length \+ 2 = 7"),
        ({"most": -1}, "most = -1; choose 0 or more"),
        ({"buckets": 100, "min_count": 2}, r"min_count to 1 \(is 2\)"),
        ({"buckets": 100, "most": 5}, r"most to 0 \(is 5\)"),
    ],
)
def test_refuses_what_cannot_work(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NgramBagSettings(**VALUES | changes)
