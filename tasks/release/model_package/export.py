"""The encoder as ONNX: ids and lengths in, unit-norm embeddings out, batch and length dynamic.

Works for any `models.network.encoder.Encoder`; onnxruntime then needs neither torch nor this
repository. Equal weights give equal bytes.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import torch
from torch import nn

from models.network.encoder import Encoder
from models.network.loss import unit
from models.reproducibility.atomic_write import write_bytes

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

OPSET = 17
EXAMPLE_LENGTHS = (7, 5, 3)
"""Of the strings that the export traces: several, of different lengths, the longest first."""
TRACING = (
    "You are using the legacy TorchScript-based ONNX export",
    "Exporting a model to ONNX with a batch_size other than 1",  # the initial state is traced too
    "Using len to get tensor shape",
    "Converting a tensor to a Python boolean",  # checks of shapes, the same for every batch
    "The feature will be removed",
)


class UnitNorm(nn.Module):
    """An encoder, its output of unit norm: what consumers compare."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, *features: Tensor) -> Float[Tensor, "batch dim"]:
        """Embed a batch."""
        return unit(self.encoder(*features))


def export_encoder(encoder: Encoder, path: Path) -> None:
    """Write `encoder`, in evaluation mode, to `path`.

    Inputs, all int64, are `ids` and `lengths` of the first of its units, `ids_1` and `lengths_1` of
    the second, and so on.

    Raises:
        onnx.checker.ValidationError: the exported graph is not valid.
    """
    buffer = io.BytesIO()
    lengths = torch.tensor(EXAMPLE_LENGTHS)
    ids = torch.ones(len(EXAMPLE_LENGTHS), max(EXAMPLE_LENGTHS), dtype=torch.int64)
    ids *= torch.arange(ids.shape[1]) < lengths[:, None]
    streams = len(encoder.units(encoder.settings))
    ends = ["", *(f"_{number}" for number in range(1, streams))]
    axes = {f"ids{end}": {0: "batch", 1: f"length{end}"} for end in ends}
    axes |= {f"lengths{end}": {0: "batch"} for end in ends} | {"embeddings": {0: "batch"}}
    with warnings.catch_warnings(), torch.inference_mode(False), torch.no_grad():
        for message in TRACING:
            warnings.filterwarnings("ignore", message)
        torch.onnx.export(
            UnitNorm(encoder).eval(),
            (ids, lengths) * streams,
            buffer,  # type: ignore[arg-type]  # torch takes it, its annotation does not say so
            dynamo=False,  # the other exporter needs a further package, onnxscript
            opset_version=OPSET,
            input_names=[f"{name}{end}" for end in ends for name in ("ids", "lengths")],
            output_names=["embeddings"],
            dynamic_axes=axes,
        )
    onnx.checker.check_model(buffer.getvalue())
    write_bytes(buffer.getvalue(), path)
