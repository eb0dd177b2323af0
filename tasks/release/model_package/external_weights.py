"""A network in ONNX that reads its tables from the file of weights beside it.

Tables of embeddings are nearly all that a network weighs; ONNX may say where in another file a
tensor's numbers lie. Those in bytes or half bytes are widened as rows are looked up.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper
from onnx.external_data_helper import set_external_data

from models.network.quantization import OFFSET, SCALE, VALUES
from models.reproducibility.atomic_write import write_bytes

NETWORK = "encoder."
"""Before the name of a weight in the graph (`tasks/release/model_package/export.py`)."""
TYPES = {"F32": TensorProto.FLOAT, "I8": TensorProto.INT8, "U8": TensorProto.UINT8}
"""Of safetensors."""


def share_tables(network: Path, weights: Path) -> None:
    """Let `network`, as `export_encoder` wrote it, read the rows that it looks up from `weights`.

    `weights`: safetensors in the same folder, floats or packed (`quantization.packed`).

    Raises:
        onnx.checker.ValidationError: the new graph is not valid.
    """
    model, places = onnx.load(network), _places(weights)
    graph = model.graph
    inside = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        table = node.input[0] if node.op_type == "Gather" else ""
        name = table.removeprefix(NETWORK)
        if table not in inside or name not in places:
            nodes.append(node)
            continue
        for tensor in (name, name + SCALE):
            if tensor in places and NETWORK + tensor not in inside:
                inside[NETWORK + tensor] = graph.initializer.add(name=NETWORK + tensor)
            if tensor in places:
                read_from(inside[NETWORK + tensor], weights.name, places[tensor])
        packed = name + SCALE in places
        nodes += _widened(node, table, places[name]["dtype"]) if packed else [node]
    del graph.node[:]
    graph.node.extend(nodes)
    write_bytes(model.SerializeToString(), network)
    onnx.checker.check_model(network)


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


def _places(weights: Path) -> dict[str, dict[str, Any]]:
    """Return dtype, shape and `data_offsets`, from the file's begin, of each tensor."""
    with weights.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, dict[str, Any]] = json.loads(file.read(size))
    header.pop("__metadata__", None)
    for place in header.values():
        place["data_offsets"] = [8 + size + end for end in place["data_offsets"]]
    return header


def _widened(gather: onnx.NodeProto, table: str, dtype: str) -> list[onnx.NodeProto]:
    """Look up whole numbers and scales, and multiply; what comes out has the name that it had."""
    (out,), ids = gather.output, gather.input[1]
    nodes: list[onnx.NodeProto] = []

    def add(kind: str, name: str, *inputs: str, **attributes: object) -> str:
        nodes.append(helper.make_node(kind, [*inputs], [f"{out}/{name}"], **attributes))
        return f"{out}/{name}"

    floats = add("Cast", "floats", add("Gather", "rows", table, ids), to=TensorProto.FLOAT)
    if dtype == "U8":  # two numbers in each, as `quantization.halved` packs them
        step = add("Constant", "step", value_float=float(VALUES))
        offset = add("Constant", "offset", value_float=float(OFFSET))
        upper = add("Floor", "upper", add("Div", "ratio", floats, step))
        lower = add("Sub", "lower", floats, add("Mul", "shifted", upper, step))
        floats = add("Sub", "whole", add("Concat", "both", lower, upper, axis=-1), offset)
    scales = add("Gather", "scales", table + SCALE, ids)
    return [*nodes, helper.make_node("Mul", [floats, scales], [out])]
