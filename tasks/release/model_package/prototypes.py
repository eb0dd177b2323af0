"""The prototypes of a package: arrays, and their product with titles as a small ONNX graph.

Links of an occupation that lie close together are gathered in a group, of which
`models/serving/prototypes.py` keeps one vector. `prototypes.npy` holds the numbers,
`prototypes.npz` all other arrays. The graph of `prototypes.onnx` reads the numbers from the file
beside it.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.reproducibility import atomic_write, write_bytes
from models.serving.package import read_files
from models.serving.prototypes import AXIS_STEPS, DIGIT, Prototypes, WeightedVectors

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

NAME = "prototypes"
SEPARATE = ("numbers", "product")
FEW = 1000  # a search of fewer occupations is faster as a whole
AXES = 128  # principal axes of the embeddings on which prototypes are compared
LARGEST = 63  # of their numbers: the sum of two products fits into 16 bits on every processor
PROTOTYPES = 5_000  # about so many groups, of equally many links on average; fewer stay alone
ROUNDS = 10  # of moving each link to the closest group of its occupation
LONE = 4_000  # links that are far from their group and weigh much: each is one of its own besides


def write_prototypes(folder: Path) -> None:
    """Gather the prototypes of a package's vectors, if its search has two stages."""
    model = read_files(folder)
    if len(model.index.occupations) < FEW or model.rule.kind != "soft":
        return
    links = WeightedVectors.of(model.index, model.rule, model.exemplars_of(model.index))
    prototypes = gathered(links, model.embeddings[:])
    with atomic_write(folder / f"{NAME}.npy") as partial, partial.open("wb") as file:
        np.save(file, prototypes.numbers, allow_pickle=False)
    names = [field.name for field in fields(Prototypes) if field.name not in SEPARATE]
    with atomic_write(folder / f"{NAME}.npz") as partial, partial.open("wb") as file:
        np.savez(file, **{name: getattr(prototypes, name) for name in names})
    write_bytes(_graph(folder / f"{NAME}.npy", prototypes.numbers), folder / f"{NAME}.onnx")


def gathered(links: WeightedVectors, embeddings: Float32[np.ndarray, "title dim"]) -> Prototypes:
    """Make a prototype of each group of links, from the embeddings that these name."""
    moments, mean = embeddings.T @ embeddings / len(embeddings), embeddings.mean(axis=0)
    axes = np.round(AXIS_STEPS * np.linalg.eigh(moments)[1][:, ::-1][:, :AXES])
    axes = np.ascontiguousarray(axes, np.float32)
    spreads = np.linalg.eigvalsh(moments - np.outer(mean, mean))
    directions = spreads.sum() ** 2 / (spreads**2).sum()
    group, own = _groups(links, (embeddings @ axes)[links.positions]), links.owners
    used = np.bincount(own[np.unique(group, return_index=True)[1]])
    order = np.lexsort((group, own, used[own]))
    begin = np.flatnonzero(np.diff(group[order], prepend=-1))
    weights = np.add.reduceat(links.weights[order], begin)
    weighted = embeddings[links.positions[order]] * links.weights[order, None]
    means = np.add.reduceat(weighted, begin, axis=0) / weights[:, None]
    kinds, alike = np.unique(used, return_counts=True)
    t, vectors = links.temperature, means @ (axes / AXIS_STEPS)
    spread = 1 - (vectors**2).sum(axis=1)
    extra = np.log(weights) + spread / (2 * directions * t**2)
    vectors /= t
    factors = np.abs(vectors).max(axis=1, keepdims=True) / LARGEST
    numbers = np.round(vectors / np.maximum(factors, 1e-9)).astype(np.int8)
    ends = np.cumsum(kinds * alike)
    of_alike = zip(kinds, np.split(np.arange(len(numbers)), ends[:-1]), strict=True)
    turned = np.concatenate(  # sums over an axis of whole rows take a fraction of the time
        [rows.reshape(-1, count).T.reshape(-1) for count, rows in of_alike]
    )
    numbers = np.ascontiguousarray(numbers[turned].T)
    floats = numbers.astype(np.float32)
    return Prototypes(
        axes,
        numbers,
        factors[turned, 0].astype(np.float32),
        extra[turned].astype(np.float32),
        np.argsort(used, kind="stable"),
        kinds,
        ends,
        t,
        lambda digits: ((digits.astype(np.float32) - DIGIT) @ floats).astype(np.int32),
    )


def _groups(
    links: WeightedVectors, rows: Float32[np.ndarray, "link axis"]
) -> Int64[np.ndarray, " link"]:
    """Gather links of an occupation that lie close together; groups count up by occupation.

    Neighbours in the list make the first groups; then each link moves to the closest group.
    """
    own, sizes = links.owners, np.diff(links.starts)
    counts = -(-sizes // max(1, round(len(own) / PROTOTYPES)))
    firsts = np.concatenate([[0], np.cumsum(counts)])
    rank = np.arange(len(own)) - links.starts[own]
    group: Int64[np.ndarray, " link"] = firsts[own] + rank * counts[own] // sizes[own]
    for occupation in np.flatnonzero(counts > 1).tolist():
        part, first = slice(*links.starts[occupation : occupation + 2]), firsts[occupation]
        near, nearest = rows[part], group[part] - first
        for _ in range(ROUNDS):
            before = nearest
            nearest = (near @ _means(near, before, counts[occupation]).T).argmax(axis=1)
            if (nearest == before).all():
                break
        group[part] = first + nearest
    lone = _far(rows, group, links.weights)[:LONE]
    group[lone] = firsts[-1] + np.arange(len(lone))
    return group


def _means(
    rows: Float32[np.ndarray, "link axis"], group: Int64[np.ndarray, " link"], groups: int
) -> Float32[np.ndarray, "group axis"]:
    """Return the direction of each group's mean; zeros of one without links."""
    order = np.argsort(group, kind="stable")
    names, begin = np.unique(group[order], return_index=True)
    means = np.zeros((groups, rows.shape[1]), np.float32)
    means[names] = np.add.reduceat(rows[order], begin, axis=0)
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means / np.maximum(norms, 1e-9))


def _far(
    rows: Float32[np.ndarray, "link axis"],
    group: Int64[np.ndarray, " link"],
    weights: Float32[np.ndarray, " link"],
) -> Int64[np.ndarray, " far"]:
    """Return the links that have company in their group, the farthest first, each by its weight.

    Such a link is what a mean hides: the alias "designer" of an art director.
    """
    means = _means(rows, group, group.max(initial=-1) + 1)
    norms = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    far = weights * (1 - np.einsum("la,la->l", rows, means[group]) / norms)
    far[np.bincount(group)[group] == 1] = 0
    order = np.argsort(-far, kind="stable")
    return np.asarray(order[far[order] > 0])


def _graph(file: Path, numbers: np.ndarray) -> bytes:
    """Return the graph, of opset 17: digits (uint8) in, sums of products (int32) out."""
    from onnx import TensorProto, helper

    from tasks.release.model_package.export import read_from

    axes, count = numbers.shape
    table, end = TensorProto(name="numbers"), file.stat().st_size
    entry = {"shape": numbers.shape, "dtype": "I8", "data_offsets": [end - numbers.nbytes, end]}
    read_from(table, file.name, entry)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["digits", "numbers", "added"], ["sums"])],
        NAME,
        [helper.make_tensor_value_info("digits", TensorProto.UINT8, ["row", axes])],
        [helper.make_tensor_value_info("sums", TensorProto.INT32, ["row", count])],
        [table, helper.make_tensor("added", TensorProto.UINT8, [], [DIGIT])],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return bytes(model.SerializeToString())
