"""Joined encoders against loops over parts and dimensions, and what a hybrid refuses."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.encoders.hybrid import HybridEncoder, HybridSettings
from models.network.kinds import encoder_settings, plain
from models.text.units import UnitSettings

BAG: dict[str, Any] = {
    "kind": "ngram_bag",
    "orders": (2, 3),
    "max_length": 30,
    "min_count": 1,
    "most": 0,
    "buckets": 0,
    "activation": "tanh",
    "bias": True,
    "dim": 3,
}
WORDS: dict[str, Any] = {"kind": "word_average", "max_length": 8, "min_count": 2, "dim": 2}
SIZES = (9, 6, 7)  # of a bag, of words, of a second bag
COMBINE = st.sampled_from(["concatenate", "gated"])
BOTH = pytest.mark.parametrize("combine", ["concatenate", "gated"])
TITLE = st.tuples(*(st.lists(st.integers(1, n - 1), min_size=1, max_size=5) for n in SIZES))
TITLES = st.lists(TITLE, min_size=1, max_size=4)

Title = tuple[list[int], ...]


def encoder_of(**changes: Any) -> HybridEncoder:
    torch.manual_seed(3)
    values = {"parts": (BAG, WORDS, BAG | {"dim": 5}), "combine": "gated", "dim": 4}
    return HybridEncoder(HybridSettings(**values | changes), SIZES)


def batch_of(titles: list[Title], more: int = 0) -> list[torch.Tensor]:
    """Make two tensors for each unit, ids and lengths."""
    features = []
    for rows in zip(*titles, strict=True):
        longest = max(map(len, rows)) + more
        features.append(torch.tensor([row + [0] * (longest - len(row)) for row in rows]))
        features.append(torch.tensor([len(row) for row in rows]))
    return features


def dense(layer: torch.nn.Linear, x: list[float]) -> list[float]:
    weight, bias = layer.weight.double().tolist(), layer.bias.double().tolist()
    return [
        sum(w * value for w, value in zip(row, x, strict=True)) + b
        for row, b in zip(weight, bias, strict=True)
    ]


def by_loop(encoder: HybridEncoder, title: Title) -> list[float]:
    parts = []
    for part, row in zip(encoder.parts, title, strict=True):
        embedding = part(torch.tensor([row]), torch.tensor([len(row)]))[0].double().tolist()
        norm = math.sqrt(sum(x * x for x in embedding))
        parts.append([x / norm for x in embedding])
    flat = [x for part in parts for x in part]
    if encoder.settings.combine == "concatenate":
        return dense(encoder.joined.dense, flat)
    states = [dense(layer, part) for layer, part in zip(encoder.joined.dense, parts, strict=True)]
    gates = dense(encoder.joined.gates, flat)
    joined = []
    for place in range(encoder.dim):
        raised = [math.exp(gates[part * encoder.dim + place]) for part in range(len(parts))]
        weights = [power / sum(raised) for power in raised]
        joined.append(sum(w * state[place] for w, state in zip(weights, states, strict=True)))
    return joined


@pytest.mark.thorough
@given(titles=TITLES, combine=COMBINE)
@settings(deadline=None)
def test_equals_the_loop(titles: list[Title], combine: str) -> None:
    encoder = encoder_of(combine=combine)
    embeddings = encoder(*batch_of(titles)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_loop(encoder, title) for title in titles], atol=1e-6)


@pytest.mark.thorough
@given(title=TITLE, others=TITLES, combine=COMBINE)
@settings(deadline=None, max_examples=40)
def test_does_not_see_the_batch_or_its_padding(
    title: Title, others: list[Title], combine: str
) -> None:
    encoder = encoder_of(combine=combine)
    alone = encoder(*batch_of([title]))[0]
    torch.testing.assert_close(encoder(*batch_of([*others, title]))[-1], alone)
    torch.testing.assert_close(encoder(*batch_of([title], more=4))[0], alone)


@BOTH
def test_shapes_the_empty_batch_and_a_title_of_padding(combine: str) -> None:
    encoder = encoder_of(combine=combine)
    forward = checked(HybridEncoder.forward)
    assert forward(encoder, *batch_of([([2], [3, 1], [4]), ([1], [1], [1])])).shape == (2, 4)
    none = torch.zeros(0, 3, dtype=torch.long)
    assert forward(encoder, *[none, none[:, 0]] * 3).shape == (0, 4)
    padding = forward(encoder, *batch_of([([0], [0], [0]), ([2], [0], [3])]))
    assert padding.isfinite().all()
    padding.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in encoder.parameters())
    assert all(parameter.grad.abs().max() < 1e3 for parameter in encoder.parameters())


@BOTH
def test_gradients_reach_all_and_padding_stays_zero(combine: str) -> None:
    encoder = encoder_of(combine=combine)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1)
    every: Title = tuple(list(range(1, size)) for size in SIZES)
    encoder(*batch_of([every, ([2], [3], [4])])).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad.abs().max() > 0, name
    optimizer.step()
    assert (encoder.parts[0].ngrams.weight[0] == 0).all()
    assert (encoder.parts[1].words.weight[0] == 0).all()


@BOTH
def test_a_longer_part_does_not_drown_the_others(combine: str) -> None:
    """Scale the words' vectors by a thousand: the embedding is the same."""
    encoder = encoder_of(combine=combine)
    batch = batch_of([([2, 5], [3, 1], [4]), ([1], [5], [6, 6])])
    before = encoder(*batch)
    with torch.no_grad():
        encoder.parts[1].words.weight *= 1000
    torch.testing.assert_close(encoder(*batch), before)


def test_gates_that_are_closed_leave_one_part() -> None:
    """Set logits of 0, 50 and 0: the second part's weight is 1 - 4e-22, so its layer is all."""
    encoder = encoder_of()
    with torch.no_grad():
        encoder.joined.gates.weight.zero_()
        encoder.joined.gates.bias.copy_(torch.tensor([0.0] * 4 + [50.0] * 4 + [0.0] * 4))
    batch = batch_of([([2, 5], [3, 1], [4])])
    words = torch.nn.functional.normalize(encoder.parts[1](*batch[2:4]), dim=1)
    torch.testing.assert_close(encoder(*batch), encoder.joined.dense[1](words))


def test_reads_the_units_of_its_parts_one_after_the_other() -> None:
    encoder = encoder_of()
    bag = UnitSettings("ngram", 30, orders=(2, 3))
    expected = (bag, UnitSettings("word", 8, min_count=2), bag)
    assert HybridEncoder.units(encoder.settings) == expected
    assert encoder.parts[0].ngrams.num_embeddings == 9
    assert encoder.parts[1].words.num_embeddings == 6
    assert encoder.parts[2].ngrams.num_embeddings == 7


def test_settings_are_equal_after_json() -> None:
    """Turn lists of lists, from YAML or JSON, into the tuples that they were."""
    made = HybridSettings(parts=(WORDS, BAG), combine="gated", dim=4)
    again = encoder_settings(json.loads(json.dumps(plain(made))))
    assert again == made
    assert asdict(again) == asdict(made)
    assert again.parts[1]["orders"] == (2, 3)
    listed = HybridSettings(parts=(WORDS, BAG | {"orders": [2, 3]}), combine="gated", dim=4)
    assert listed == made


HYBRID = {"kind": "hybrid", "parts": (BAG, WORDS), "combine": "gated", "dim": 2}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": (BAG,)}, "name two or more"),
        ({"combine": "sum"}, "'sum'; choose concatenate or gated"),
        ({"dim": 0}, "dim = 0; choose 1 or more"),
        ({"parts": (BAG, {"kind": "no_such"})}, r"parts\[1\], kind 'no_such': .*choose .*hybrid"),
        ({"parts": ({"dim": 3}, BAG)}, r"parts\[0\], kind None: .*choose"),
        ({"parts": (BAG, WORDS | {"dim": 0})}, r"parts\[1\], kind 'word_average': dim = 0"),
        ({"parts": (BAG, WORDS | {"dim": "2"})}, r"parts\[1\], kind 'word_average'"),
        ({"parts": (BAG, WORDS | {"hidden": 3})}, r"parts\[1\].*check \['hidden'\]"),
        ({"parts": (HYBRID, BAG)}, r"parts\[0\], kind 'hybrid': name its parts here instead"),
    ],
)
def test_refuses_what_cannot_work(changes: dict[str, Any], message: str) -> None:
    values = {"parts": (BAG, WORDS), "combine": "concatenate", "dim": 4}
    with pytest.raises(ValueError, match=message):
        HybridSettings(**values | changes)
