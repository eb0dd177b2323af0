"""Bags read from their weights beside torch, in any precision, with and without kernels."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

from models.encoders.ngram_bag import NgramBagSettings
from models.encoders.recurrent import RecurrentSettings
from models.encoders.word_average import WordAverageSettings
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, make_encoder
from models.network.quantization import Precision, packed, unpacked
from models.search import kernels
from tasks.release.model_package.bags import bag_weights
from tasks.release.model_package.reading import read_network

TITLES = ["night nurse", "baker", "c++ developer", "", "zzz", "ward sister of the night " * 9]
BAGS = [
    NgramBagSettings((2, 3), 20, 1, 0, 0, "tanh", True, 12),
    NgramBagSettings((2, 3), 20, 1, 0, 50, "linear", False, 12, "word"),
    WordAverageSettings(5, 1, 12),
]


@pytest.mark.parametrize("precision", ["byte", "half_byte", "single"])
@pytest.mark.parametrize("shape", BAGS, ids=lambda shape: type(shape).__name__)
def test_a_bag_embeds_as_torch_does(shape: object, precision: Precision, tmp_path: Path) -> None:
    """Alone and among others to the last bit, and compiled as by numpy."""
    featurizer = fit_featurizer(TITLES, shape)
    torch.manual_seed(1)
    encoder = make_encoder(shape, featurizer).eval()
    weights = packed(encoder, precision)
    encoder.load_state_dict(unpacked(weights))
    (tmp_path / "weights.safetensors").write_bytes(save(weights))
    named = bag_weights(encoder)
    assert named is not None
    bag = read_network(tmp_path, featurizer, named._asdict())
    embedded = bag(TITLES)
    np.testing.assert_allclose(embedded, embed_titles(encoder, featurizer, TITLES), atol=1e-6)
    order = random.Random(1).sample(range(len(TITLES)), len(TITLES))
    assert (bag([TITLES[row] for row in order]) == embedded[order]).all()
    try:
        assert kernels.kernels_for(kernels.MANY) and kernels.kernels_at_hand()
        assert (bag(TITLES) == embedded).all()
    finally:
        kernels._compiled.cache_clear()


def test_other_networks_are_no_bags() -> None:
    shape = RecurrentSettings("fast", 20, 4, 1, 4, 8, 0.0, 0.0)
    assert bag_weights(make_encoder(shape, fit_featurizer(TITLES, shape)).eval()) is None
