"""The encoder as ONNX: character ids and lengths in, embeddings out, batch and length dynamic.

Works for any encoder with `forward(ids [batch, length], lengths [batch])`; onnxruntime then needs
neither torch nor this repository. Equal weights give equal bytes.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import torch

from models.whole_file import write_bytes

if TYPE_CHECKING:
    from torch import nn

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


def export_encoder(encoder: nn.Module, path: Path) -> None:
    """Write `encoder`, in evaluation mode, to `path`; inputs `ids` and `lengths`, both int64.

    Raises:
        onnx.checker.ValidationError: the exported graph is not valid.
    """
    buffer = io.BytesIO()
    lengths = torch.tensor(EXAMPLE_LENGTHS)
    ids = torch.ones(len(EXAMPLE_LENGTHS), max(EXAMPLE_LENGTHS), dtype=torch.int64)
    with warnings.catch_warnings(), torch.inference_mode(False), torch.no_grad():
        for message in TRACING:
            warnings.filterwarnings("ignore", message)
        torch.onnx.export(
            encoder.eval(),
            (ids, lengths),
            buffer,  # type: ignore[arg-type]  # torch takes it, its annotation does not say so
            dynamo=False,  # the other exporter needs a further package, onnxscript
            opset_version=OPSET,
            input_names=["ids", "lengths"],
            output_names=["embeddings"],
            dynamic_axes={
                "ids": {0: "batch", 1: "length"},
                "lengths": {0: "batch"},
                "embeddings": {0: "batch"},
            },
        )
    graph = onnx.load_model_from_string(buffer.getvalue())
    onnx.checker.check_model(graph)
    write_bytes(buffer.getvalue(), path)
