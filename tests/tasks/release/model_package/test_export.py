"""The exported network against torch, in both modes; equal bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from tiny_run import SETTINGS, network

from models.network.kinds import make_encoder
from models.network.loss import unit
from tasks.release.model_package.export import export_encoder

BLOCKS = [
    ["a"],
    ["", "nurse", "b" * 40, "c++ developer"],
    ["programmer"] * 9,
    ["short", "longer title"],
]


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
