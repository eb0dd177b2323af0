"""The prototypes of a package: arrays, and their product with titles as a small ONNX graph.

`prototypes.npy` holds the numbers, `prototypes.npz` all other arrays. The graph of
`prototypes.onnx` reads the numbers from the file beside it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from models.reproducibility.atomic_write import atomic_write, write_bytes
from models.search.prototypes import DIGIT, Prototypes

NAME = "prototypes"
SEPARATE = ("numbers", "product")


def write_prototypes(folder: Path) -> None:
    """Gather the prototypes of a package's vectors, if its search has two stages."""
    from tasks.release.model_package.reading import read_files  # onnxruntime takes seconds

    search = replace(read_files(folder), prototypes=None).two_stage_search
    if search is None:
        return
    prototypes = search.prototypes
    with atomic_write(folder / f"{NAME}.npy") as partial, partial.open("wb") as file:
        np.save(file, prototypes.numbers, allow_pickle=False)
    names = [field.name for field in fields(Prototypes) if field.name not in SEPARATE]
    with atomic_write(folder / f"{NAME}.npz") as partial, partial.open("wb") as file:
        np.savez(file, **{name: getattr(prototypes, name) for name in names})
    write_bytes(_graph(folder / f"{NAME}.npy", prototypes.numbers), folder / f"{NAME}.onnx")


def _graph(file: Path, numbers: np.ndarray) -> bytes:
    """Return the graph, of opset 17: digits (uint8) in, sums of products (int32) out."""
    from onnx import TensorProto, helper

    from tasks.release.model_package.external_weights import read_from

    axes, count = numbers.shape
    table, end = TensorProto(name="numbers"), file.stat().st_size
    place = {"shape": numbers.shape, "dtype": "I8", "data_offsets": [end - numbers.nbytes, end]}
    read_from(table, file.name, place)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["digits", "numbers", "added"], ["sums"])],
        NAME,
        [helper.make_tensor_value_info("digits", TensorProto.UINT8, ["row", axes])],
        [helper.make_tensor_value_info("sums", TensorProto.INT32, ["row", count])],
        [table, helper.make_tensor("added", TensorProto.UINT8, [], [DIGIT])],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    made: bytes = model.SerializeToString()
    return made
