"""A tensor of an ONNX graph whose numbers lie in another file."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto
from onnx.external_data_helper import set_external_data

TYPES = {"F32": TensorProto.FLOAT, "I8": TensorProto.INT8, "U8": TensorProto.UINT8}
"""Of safetensors."""


def read_from(tensor: TensorProto, file: str, place: dict[str, Any]) -> None:
    """Let a tensor of a graph lie in another file: `dtype`, `shape` and `data_offsets` of it."""
    begin, end = place["data_offsets"]
    tensor.ClearField("dims")
    tensor.ClearField("float_data")
    tensor.dims.extend(place["shape"])
    tensor.data_type = TYPES[place["dtype"]]
    tensor.raw_data = b""  # else the helper finds no tensor to move
    set_external_data(tensor, file, begin, end - begin)
    tensor.ClearField("raw_data")
