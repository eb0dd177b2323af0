"""The bag of n-grams against equation 1 in a loop, its padding, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from models.encoders.ngram_bag import START, NgramBagEncoder, NgramBagSettings
from models.text.featurizer import FIRST, Featurizer, Vocabulary
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
ACTIVATIONS = st.sampled_from(["tanh", "linear"])


def encoder_of(**changes: Any) -> NgramBagEncoder:
    torch.manual_seed(3)
    return NgramBagEncoder(NgramBagSettings(**VALUES | changes), [NGRAMS])


def batch_of(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([len(row) for row in rows])


def by_equation_1(encoder: NgramBagEncoder, row: list[int]) -> list[float]:
    """Compute h(b + Σ W), one n-gram and one dimension after the other; ids of 0 add nothing."""
    table = encoder.ngrams.weight.double().tolist()
    bias = [0.0] * encoder.dim if encoder.bias is None else encoder.bias.double().tolist()
    embedding = []
    for place in range(encoder.dim):
        total = bias[place]
        for ngram in row:
            if ngram != 0:
                total += table[ngram][place]
        embedding.append(math.tanh(total) if encoder.settings.activation == "tanh" else total)
    return embedding


@pytest.mark.thorough
@given(rows=ROWS, activation=ACTIVATIONS, bias=st.booleans())
@settings(deadline=None)
def test_equals_equation_1(rows: list[list[int]], activation: str, bias: bool) -> None:
    encoder = encoder_of(activation=activation, bias=bias)
    embeddings = encoder(*batch_of(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_equation_1(encoder, row) for row in rows], atol=1e-6)


def test_counts_by_hand() -> None:
    """Take rows (0.1, 0.2), (0.3, -0.1), bias (0, 0.5): n-grams 2, 2, 3 give 2·W² + W³ + b.

    (0.2 + 0.3, 0.4 - 0.1 + 0.5) = (0.5, 0.8); tanh 0.46212, 0.66404.
    """
    encoder = encoder_of(dim=2)
    with torch.no_grad():
        encoder.ngrams.weight[2] = torch.tensor([0.1, 0.2])
        encoder.ngrams.weight[3] = torch.tensor([0.3, -0.1])
        encoder.bias.copy_(torch.tensor([0.0, 0.5]))
    ids, lengths = batch_of([[2, 2, 3]])
    torch.testing.assert_close(
        encoder(ids, lengths)[0], torch.tensor([0.46212, 0.66404]), atol=1e-5, rtol=0
    )


def test_titles_count_their_known_ngrams() -> None:
    """Count in ` anna banana ` `an` 3 times, `na` 3, ` a` once; no other one is known."""
    made = NgramBagSettings(**VALUES | {"orders": (2,), "activation": "linear", "bias": False})
    units = NgramBagEncoder.units(made)
    featurizer = Featurizer(" abn", (Vocabulary(units[0], (" a", "an", "na")),))
    torch.manual_seed(3)
    encoder = NgramBagEncoder(made, featurizer.sizes)
    streams = featurizer(["anna banana", "xyz"]).streams[0]
    embeddings = encoder(torch.from_numpy(streams.padded()), torch.from_numpy(streams.lengths))
    blank_a, an, na = encoder.ngrams.weight[FIRST:]
    torch.testing.assert_close(embeddings[0], blank_a + 3 * an + 3 * na)
    assert (embeddings[1] == 0).all()


@pytest.mark.parametrize("bias", [True, False])
def test_a_title_without_a_known_ngram(bias: bool) -> None:
    """Expect tanh(b), which is no vector of zeros, and without b one of zeros.

    The gradient of the unit norm is 1e12 at zeros; there is nothing there that it could move.
    """
    encoder = encoder_of(bias=bias)
    embeddings = encoder(*batch_of([[0], [2, 3]]))
    expected = encoder.bias.tanh() if encoder.bias is not None else torch.zeros(4)
    torch.testing.assert_close(embeddings[0], expected)
    assert (embeddings[0].norm() > 0) == bias
    functional.normalize(embeddings, dim=1).sum().backward()
    for parameter in encoder.parameters():
        assert parameter.grad.abs().max() < 1e3


@pytest.mark.thorough
def test_gradients_reach_all_and_padding_stays_zero() -> None:
    encoder = encoder_of()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1)
    encoder(*batch_of([list(range(1, NGRAMS)), [2]])).square().sum().backward()
    assert (encoder.ngrams.weight.grad[1:] != 0).all()
    assert (encoder.bias.grad != 0).all()
    before = encoder.ngrams.weight.detach().clone()
    optimizer.step()
    assert (encoder.ngrams.weight[0] == 0).all()
    assert (encoder.ngrams.weight[1:] != before[1:]).all()


@given(rows=ROWS)
@settings(deadline=None, max_examples=20)
def test_while_tracing_the_same(rows: list[list[int]]) -> None:
    """Go the way without a bag, with the same gradients."""
    encoder = encoder_of()
    batch = batch_of([*rows, [0]])
    results = []
    for tracing in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.jit, "is_tracing", lambda tracing=tracing: tracing)
            encoder.zero_grad()
            embeddings = encoder(*batch)
            embeddings.square().sum().backward()
            results.append((embeddings.detach(), encoder.ngrams.weight.grad, encoder.bias.grad))
    for bag, plain in zip(*results, strict=True):
        torch.testing.assert_close(bag, plain)


def test_the_traced_graph_reads_the_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what stands behind a string by its length, so that ONNX keeps that input."""
    encoder = encoder_of()
    expected = encoder(*batch_of([[2, 3], [4, 5, 6]]))
    monkeypatch.setattr(torch.jit, "is_tracing", lambda: True)
    embeddings = encoder(torch.tensor([[2, 3, 7], [4, 5, 6]]), torch.tensor([2, 3]))
    torch.testing.assert_close(embeddings, expected)


def test_sixty_ngrams_leave_tanh_nearly_straight() -> None:
    """Expect a deviation of the sum 0.05 · √(60 / 3) = 0.224: tanh' = 1 - tanh² ≈ 0.95 there.

    With rows of N(0, 1) the sum has √60 = 7.7, and tanh' is below 0.01 for three of four.
    """
    torch.manual_seed(1)
    encoder = NgramBagEncoder(NgramBagSettings(**VALUES | {"dim": 300}), [3000])
    ids = torch.randint(1, 3000, (50, 60))
    slope = 1 - encoder(ids, torch.full((50,), 60)).square()
    assert slope.mean().item() == pytest.approx(0.95, abs=0.01)
    with torch.no_grad():
        encoder.ngrams.weight.normal_()
    slope = 1 - encoder(ids, torch.full((50,), 60)).square()
    assert (slope < 0.01).float().mean() > 0.65
    assert START == 0.05


def test_reads_the_ngrams_of_its_settings() -> None:
    made = NgramBagSettings(
        orders=(3, 5),
        max_length=30,
        min_count=2,
        most=1000,
        buckets=0,
        activation="linear",
        bias=False,
        dim=7,
    )
    expected = UnitSettings("ngram", 30, orders=(3, 5), min_count=2, most=1000, buckets=0)
    assert NgramBagEncoder.units(made) == (expected,)
    encoder = NgramBagEncoder(made, [11])
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 77
    assert encoder.dim == 7


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
        ({"max_length": 0}, "max_length"),
        ({"most": -1}, "most = -1; choose 0 or more"),
        ({"buckets": -1}, "buckets = -1"),
        ({"buckets": 100, "min_count": 2}, r"min_count to 1 \(is 2\)"),
        ({"buckets": 100, "most": 5}, r"most to 0 \(is 5\)"),
    ],
)
def test_refuses_what_cannot_work(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NgramBagSettings(**VALUES | changes)
