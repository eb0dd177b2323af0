"""A network as it is registered: close to what was trained, and a quarter of its size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny_run
import torch

from models.network.embedding import embed_titles
from models.network.kinds import load_model
from models.network.quantization import Precision, pack
from models.serving.index import StoredVectors
from tasks.release.model_package.patch import as_indexed
from tasks.release.model_package.quantized_network import QuantizedNetwork

TITLES = ["nurse", "software developer", "baker"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run.make_run(tmp_path_factory.mktemp("run")) / "data/train/typos/7/model"


def test_floats_are_what_was_trained(model: Path) -> None:
    network, (featurizer, encoder) = QuantizedNetwork.of(model, "single"), load_model(model)
    expected = embed_titles(encoder, featurizer, TITLES)
    assert network.index(TITLES).equal(expected)
    similarities = network.similarities(TITLES)(TITLES)
    np.testing.assert_allclose(similarities, (expected @ expected.T).numpy(), atol=1e-6)


@pytest.mark.parametrize("which", ["weights", "initial"])
@pytest.mark.parametrize(
    ("precision", "dtype", "close"), [("byte", torch.int8, 0.03), ("half_byte", torch.uint8, 0.3)]
)
def test_what_is_packed_is_close_to_it(
    model: Path, which: str, precision: str, dtype: torch.dtype, close: float
) -> None:
    exact, network = (QuantizedNetwork.of(model, one, which) for one in ("single", precision))  # type: ignore[arg-type]
    assert network.index(TITLES).dtype == dtype
    found, expected = (own.similarities(TITLES)(TITLES) for own in (network, exact))
    np.testing.assert_allclose(found, expected, atol=close)
    assert dtype in {tensor.dtype for tensor in network.weights.values()}


def test_what_it_weighs(model: Path) -> None:
    """Every number of the weights, and of the index a row a title."""
    floats, some = (QuantizedNetwork.of(model, "single").megabytes(TITLES[:n]) for n in (3, 1))
    assert floats - some == pytest.approx(2 * load_model(model)[1].dim * 4 / 1e6)
    half, whole = (
        QuantizedNetwork.of(model, one).megabytes(TITLES) for one in ("half_byte", "byte")
    )  # type: ignore[arg-type]
    assert half < whole < floats


@pytest.mark.parametrize(("kind", "precision"), [("uint8", "half_byte"), ("int8", "byte")])
def test_a_patch_packs_new_rows_alike(kind: str, precision: Precision) -> None:
    embeddings = np.random.default_rng(1).standard_normal((50, 8)).astype(np.float32)
    embeddings[3] = 0
    packed = StoredVectors.of(pack(torch.from_numpy(embeddings), precision)[0].numpy())
    assert np.array_equal(as_indexed(embeddings, np.dtype(kind)), packed.rows)
