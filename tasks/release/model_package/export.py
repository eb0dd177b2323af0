"""The network of a package: a bag is recognized by what it does; all others are exported to ONNX.

The served model reads the table of a bag itself (`models/serving/embed.py`). An exported encoder
takes ids and lengths and gives embeddings of unit norm, batch and length dynamic. Tables of
embeddings are nearly all that a network weighs, so the graph reads them from the file of weights
beside it; rows in bytes or half bytes are widened as they are looked up. Equal weights give equal
bytes.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import onnx
import torch
from onnx import TensorProto, helper
from onnx.external_data_helper import set_external_data
from torch import nn

from models.network.encoder import Encoder
from models.network.loss import unit
from models.network.quantization import OFFSET, SCALE, VALUES
from models.reproducibility import write_bytes

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

PROBED = 8  # titles that both are asked with, of as many units


class BagWeights(NamedTuple):
    """Names of the weights of a bag, in `settings.json`; `bias` is empty if there is none."""

    table: str
    bias: str
    tanh: bool


def bag_weights(encoder: Encoder) -> BagWeights | None:
    """Return the weights of an encoder that is a bag; None of any other."""
    named = dict(encoder.named_parameters())
    modules = encoder.named_modules()
    tables = [f"{name}.weight" for name, part in modules if isinstance(part, nn.Embedding)]
    others = [name for name in named if name not in tables]
    shapes = [named[name].shape for name in others]
    if len(tables) != 1 or shapes not in ([], [(encoder.dim,)]):
        return None
    rows = named[tables[0]]
    if rows.shape[1] != encoder.dim:
        return None
    ids = torch.randint(1, len(rows), (PROBED, PROBED), generator=torch.Generator().manual_seed(0))
    sums = rows[ids].sum(1) + (named[others[0]] if others else 0)
    with torch.no_grad():
        embedded = encoder(ids, torch.full((PROBED,), PROBED))
        for tanh in (False, True):
            if torch.allclose(unit(embedded), unit(sums.tanh() if tanh else sums), atol=1e-6):
                return BagWeights(tables[0], others[0] if others else "", tanh)
    return None


OPSET = 17
EXAMPLE_LENGTHS = (7, 5, 3)  # of the strings that are traced: different, the longest first
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
    the second, and so on. An `onnx.checker.ValidationError` says that the graph is not valid.
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


NETWORK = "encoder."  # before the name of a weight in the graph
TYPES = {"F32": TensorProto.FLOAT, "I8": TensorProto.INT8, "U8": TensorProto.UINT8}  # safetensors


def share_tables(network: Path, weights: Path) -> None:
    """Let `network`, as `export_encoder` wrote it, read the rows that it looks up from `weights`.

    `weights`: safetensors in the same folder, floats or packed (`quantization.packed`). An
    `onnx.checker.ValidationError` says that the new graph is not valid.
    """
    model, entries = onnx.load(network), _entries(weights)
    graph = model.graph
    inside = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        table = node.input[0] if node.op_type == "Gather" else ""
        name = table.removeprefix(NETWORK)
        if table not in inside or name not in entries:
            nodes.append(node)
            continue
        for tensor in (name, name + SCALE):
            if tensor in entries and NETWORK + tensor not in inside:
                inside[NETWORK + tensor] = graph.initializer.add(name=NETWORK + tensor)
            if tensor in entries:
                read_from(inside[NETWORK + tensor], weights.name, entries[tensor])
        packed = name + SCALE in entries
        nodes += _widened(node, table, entries[name]["dtype"]) if packed else [node]
    del graph.node[:]
    graph.node.extend(nodes)
    write_bytes(model.SerializeToString(), network)
    onnx.checker.check_model(network)


def read_from(tensor: TensorProto, file: str, entry: dict[str, Any]) -> None:
    """Let a tensor of a graph lie in another file: `dtype`, `shape` and `data_offsets` of it."""
    begin, end = entry["data_offsets"]
    tensor.ClearField("dims")
    tensor.ClearField("float_data")
    tensor.dims.extend(entry["shape"])
    tensor.data_type = TYPES[entry["dtype"]]
    tensor.raw_data = b""  # else the helper finds no tensor to move
    set_external_data(tensor, file, begin, end - begin)
    tensor.ClearField("raw_data")


def _entries(weights: Path) -> dict[str, dict[str, Any]]:
    """Return dtype, shape and `data_offsets`, from the file's begin, of each tensor."""
    with weights.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, dict[str, Any]] = json.loads(file.read(size))
    header.pop("__metadata__", None)
    for entry in header.values():
        entry["data_offsets"] = [8 + size + end for end in entry["data_offsets"]]
    return header


def _widened(gather: onnx.NodeProto, table: str, dtype: str) -> list[onnx.NodeProto]:
    """Look up whole numbers and scales, and multiply; what comes out has the name that it had."""
    (out,), ids = gather.output, gather.input[1]
    nodes: list[onnx.NodeProto] = []

    def add(kind: str, name: str, *inputs: str, **attributes: object) -> str:
        nodes.append(helper.make_node(kind, [*inputs], [f"{out}/{name}"], **attributes))
        return f"{out}/{name}"

    floats = add("Cast", "floats", add("Gather", "rows", table, ids), to=TensorProto.FLOAT)
    if dtype == "U8":  # two numbers in each, as `quantization.pack` packs them
        step = add("Constant", "step", value_float=float(VALUES))
        offset = add("Constant", "offset", value_float=float(OFFSET))
        upper = add("Floor", "upper", add("Div", "ratio", floats, step))
        lower = add("Sub", "lower", floats, add("Mul", "shifted", upper, step))
        floats = add("Sub", "whole", add("Concat", "both", lower, upper, axis=-1), offset)
    scales = add("Gather", "scales", table + SCALE, ids)
    return [*nodes, helper.make_node("Mul", [floats, scales], [out])]
