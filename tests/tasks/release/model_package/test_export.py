"""Networks of packages against torch: bags, exported ones, quantized ones; equal bytes."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tiny_run
import torch
from safetensors.torch import save
from tiny_run import SETTINGS, network

from models.encoders.ngram_bag import NgramBagSettings
from models.encoders.word_average import WordAverageSettings
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, load_model, make_encoder
from models.network.loss import unit
from models.network.quantization import Precision, pack, packed, unpacked
from models.serving.embed import OnnxNetwork
from models.serving.index import StoredVectors
from models.serving.package import read_network
from tasks.release.model_package.export import bag_weights, export_encoder
from tasks.release.model_package.patch import as_indexed
from tasks.release.model_package.quantized_network import QuantizedNetwork

TITLES = ["night nurse", "baker", "c++ developer", "", "zzz", "ward sister of the night " * 9]
BAGS = [
    NgramBagSettings((2, 3), 20, 1, 0, 0, "tanh", True, 12),
    NgramBagSettings((2, 3), 20, 1, 0, 50, "linear", False, 12, "word"),
    WordAverageSettings(5, 1, 12),
]
BLOCKS = [["a"], ["", "nurse", "b" * 40, "c++ developer"], ["programmer"] * 9]


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
def test_whatever_names_threads_a_network_loads(threads: str, tmp_path, monkeypatch) -> None:
    featurizer, encoder = network(1)
    export_encoder(encoder, tmp_path / "encoder.onnx")
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    embeddings = OnnxNetwork(tmp_path / "encoder.onnx", featurizer)(["nurse", "coder"])
    assert np.linalg.norm(embeddings, axis=1) == pytest.approx([1, 1], abs=1e-6)


JOBS = ["nurse", "software developer", "baker"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.make_run(tmp_path_factory.mktemp("run")) / "data/train/typos/7/model"


def test_floats_are_what_was_trained(model: Path) -> None:
    network, (featurizer, encoder) = QuantizedNetwork.of(model, "single"), load_model(model)
    expected = embed_titles(encoder, featurizer, JOBS)
    assert network.index(JOBS).equal(expected)
    similarities = network.similarities(JOBS)(JOBS)
    np.testing.assert_allclose(similarities, (expected @ expected.T).numpy(), atol=1e-6)


@pytest.mark.parametrize("which", ["weights", "initial"])
@pytest.mark.parametrize(
    ("precision", "dtype", "close"), [("byte", torch.int8, 0.03), ("half_byte", torch.uint8, 0.3)]
)
def test_what_is_packed_is_close_to_it(model, which, precision, dtype, close) -> None:
    exact, network = (QuantizedNetwork.of(model, one, which) for one in ("single", precision))  # type: ignore[arg-type]
    assert network.index(JOBS).dtype == dtype
    found, expected = (own.similarities(JOBS)(JOBS) for own in (network, exact))
    np.testing.assert_allclose(found, expected, atol=close)
    assert dtype in {tensor.dtype for tensor in network.weights.values()}


def test_what_it_weighs(model: Path) -> None:
    """Every number of the weights, and of the index a row a title."""
    floats, some = (QuantizedNetwork.of(model, "single").megabytes(JOBS[:n]) for n in (3, 1))
    assert floats - some == pytest.approx(2 * load_model(model)[1].dim * 4 / 1e6)
    sizes = (QuantizedNetwork.of(model, one).megabytes(JOBS) for one in ("half_byte", "byte"))
    half, whole = sizes
    assert half < whole < floats


@pytest.mark.parametrize(("kind", "precision"), [("uint8", "half_byte"), ("int8", "byte")])
def test_a_patch_packs_new_rows_alike(kind: str, precision: Precision) -> None:
    embeddings = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    embeddings[3] = 0
    packed = StoredVectors.of(pack(torch.from_numpy(embeddings), precision)[0].numpy())
    assert np.array_equal(as_indexed(embeddings, np.dtype(kind)), packed.rows)
