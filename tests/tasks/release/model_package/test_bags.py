"""Sums of packed rows, against the same network with its rows multiplied out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from safetensors.torch import save

from models.encoders.ngram_bag import NgramBagEncoder, NgramBagSettings
from models.network.quantization import packed, unpacked
from tasks.release.model_package.export import export_encoder
from tasks.release.model_package.external_weights import share_tables

SETTINGS = NgramBagSettings((2, 3), 20, 1, 0, 0, "tanh", True, 12)
UNITS = 40


@pytest.mark.parametrize("precision", ["byte", "half_byte", "single"])
def test_a_bag_of_packed_rows(tmp_path: Path, precision: str) -> None:
    torch.manual_seed(1)
    encoder = NgramBagEncoder(SETTINGS, [UNITS])
    weights = packed(encoder, precision)  # type: ignore[arg-type]
    encoder.load_state_dict(unpacked(weights))
    network, table = tmp_path / "encoder.onnx", tmp_path / "weights.safetensors"
    export_encoder(encoder, network)
    table.write_bytes(save(weights))
    share_tables(network, table)
    kinds = [node.op_type for node in onnx.load(network, load_external_data=False).graph.node]
    assert ("MatMul" in kinds) == (precision != "single")
    rng = np.random.default_rng(1)
    lengths = np.array([1, 5, 9, 2], np.int64)
    ids = rng.integers(2, UNITS, size=(4, 9)) * (np.arange(9) < lengths[:, None])
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"ids": ids, "lengths": lengths})
    with torch.no_grad():
        wanted = encoder(torch.tensor(ids), torch.tensor(lengths))
    assert found == pytest.approx(torch.nn.functional.normalize(wanted).numpy(), abs=2e-5)
