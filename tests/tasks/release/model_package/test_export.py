"""Networks of packages against torch: bags, and exported ones; equal bytes."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.torch import save
from tiny_run import SETTINGS, network

from models.encoders.ngram_bag import NgramBagSettings
from models.encoders.word_average import WordAverageSettings
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, make_encoder
from models.network.loss import unit
from models.network.quantization import Precision, packed, unpacked
from models.serving.embed import OnnxNetwork
from models.serving.package import read_network
from tasks.release.model_package.export import bag_weights, export_encoder

TITLES = ["night nurse", "baker", "c++ developer", "", "zzz", "ward sister of the night " * 9]
BAGS = [
    NgramBagSettings((2, 3), 20, 1, 0, 0, "tanh", True, 12),
    NgramBagSettings((2, 3), 20, 1, 0, 50, "linear", False, 12, "word"),
    WordAverageSettings(5, 1, 12),
]
BLOCKS = [
    ["a"],
    ["", "nurse", "b" * 40, "c++ developer"],
    ["programmer"] * 9,
    ["short", "longer title"],
]


@pytest.mark.parametrize("precision", ["byte", "half_byte", "single"])
@pytest.mark.parametrize("shape", BAGS, ids=lambda shape: type(shape).__name__)
def test_a_bag_embeds_as_torch_does(shape: object, precision: Precision, tmp_path: Path) -> None:
    """Alone and among others to the last bit."""
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
    assert (bag(TITLES[:1]) == embedded[:1]).all()


def test_other_networks_are_no_bags() -> None:
    assert bag_weights(network(1)[1]) is None


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["fast", "paper"])
@pytest.mark.parametrize("layers", [1, 2])
def test_same_embeddings_as_torch(mode: str, layers: int, tmp_path: Path) -> None:
    """Other batch sizes, lengths and orders than the three strings that were traced."""
    featurizer, _ = network(1)
    shape = replace(SETTINGS, mode=mode, layers=layers)  # type: ignore[arg-type]
    encoder = make_encoder(shape, featurizer).eval()
    export_encoder(encoder, tmp_path / "one.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "one.onnx"))
    for block in BLOCKS:
        ids, lengths = featurizer(block).streams[0].padded(), featurizer(block).streams[0].lengths
        with torch.inference_mode():
            expected = unit(encoder(torch.from_numpy(ids), torch.from_numpy(lengths))).numpy()
        (embeddings,) = session.run(None, {"ids": ids, "lengths": lengths})
        np.testing.assert_allclose(embeddings, expected, atol=1e-6)


@pytest.mark.thorough
def test_equal_weights_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_encoder(network(1)[1], tmp_path / name)
    export_encoder(network(2)[1], tmp_path / "other")
    one, two, other = ((tmp_path / name).read_bytes() for name in ("one", "two", "other"))
    assert one == two != other


@pytest.mark.parametrize("threads", ["", "1", "2,1", "many"])
def test_whatever_names_threads_a_network_loads(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    featurizer, encoder = network(1)
    export_encoder(encoder, tmp_path / "encoder.onnx")
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    embeddings = OnnxNetwork(tmp_path / "encoder.onnx", featurizer)(["nurse", "coder"])
    assert np.linalg.norm(embeddings, axis=1) == pytest.approx([1, 1], abs=1e-6)
