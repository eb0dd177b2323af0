"""Sums of packed rows in ONNX as products with the rows' scales: a bag of n-grams in few passes.

A network that sums the rows of a title's n-grams is traced as looking rows up, a product with a
mask, and a sum over the length. Rows w = s·q of whole numbers q need not be multiplied out for it:
Σ s·q is a product of the scales with the numbers as they are kept. Of half bytes, which hold
b = (l + 8) + 16·(u + 8), the sums of l and u are S − 16·U − 8·Σ s and U − 8·Σ s, where S = Σ s·b
and U = Σ s·(u + 8) (`models/network/quantization.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import onnx
from onnx import TensorProto, helper, numpy_helper

from models.network.quantization import OFFSET, SCALE, VALUES

Bag = tuple[onnx.NodeProto, onnx.NodeProto]
"""The nodes behind a look-up that mask its rows and sum them over the length."""


def find_bag(gather: onnx.NodeProto, nodes: Sequence[onnx.NodeProto]) -> Bag | None:
    """Return the nodes that sum the rows of a look-up `gather`, if nothing else reads them."""
    masked = _only_reader(gather, nodes)
    if masked is None or masked.op_type != "Mul":
        return None
    total = _only_reader(masked, nodes)
    if total is None or total.op_type != "ReduceSum" or _axes(total, nodes) != [1]:
        return None
    return masked, total


def summed(gather: onnx.NodeProto, bag: Bag, dtype: str) -> list[onnx.NodeProto]:
    """Return nodes that give what a bag gives, from a packed table of `dtype` I8 or U8."""
    table, ids = gather.input
    masked, summing = bag
    (mask,) = (name for name in masked.input if name != gather.output[0])
    (out,) = summing.output
    nodes, add = node_list(out)
    rows = add("Gather", "rows", table, ids)
    scales = add("Mul", "scales", add("Gather", "all_scales", table + SCALE, ids), mask)
    across = add("Transpose", "across", scales, perm=[0, 2, 1])
    total = add("MatMul", "sum", across, add("Cast", "numbers", rows, to=TensorProto.FLOAT))
    if dtype == "U8":
        bits = helper.make_tensor("bits", TensorProto.UINT8, [], [VALUES.bit_length() - 1])
        shift = add("Constant", "bits", value=bits)
        upper = add("BitShift", "upper", rows, shift, direction="RIGHT")
        floats = add("Cast", "upper_numbers", upper, to=TensorProto.FLOAT)
        upper = add("MatMul", "upper_sum", across, floats)
        step = add("Constant", "step", value_float=float(VALUES))
        offset = add("Constant", "offset", value_float=float(OFFSET))
        last = add("Constant", "last", value_ints=[2])
        eights = add("Mul", "eights", add("ReduceSum", "scale_sum", across, last), offset)
        lower = add("Sub", "lower", total, add("Mul", "shifted", upper, step))
        total = add("Concat", "halves", lower, upper, axis=-1)
        total = add("Sub", "whole", total, eights)
    nodes.append(
        helper.make_node("Squeeze", [total, add("Constant", "axis", value_ints=[1])], [out])
    )
    return nodes


def node_list(out: str) -> tuple[list[onnx.NodeProto], Callable[..., str]]:
    """Return a list, and a function that adds a node to it whose output is named `out/NAME`."""
    nodes: list[onnx.NodeProto] = []

    def add(kind: str, name: str, *inputs: str, **attributes: object) -> str:
        nodes.append(helper.make_node(kind, [*inputs], [f"{out}/{name}"], **attributes))
        return f"{out}/{name}"

    return nodes, add


def _only_reader(node: onnx.NodeProto, nodes: Iterable[onnx.NodeProto]) -> onnx.NodeProto | None:
    readers = [other for other in nodes if node.output[0] in other.input]
    return readers[0] if len(readers) == 1 else None


def _axes(node: onnx.NodeProto, nodes: Iterable[onnx.NodeProto]) -> list[int]:
    """Return the axes over which a ReduceSum sums."""
    values = [other for other in nodes if other.output[0] == node.input[1]]
    return numpy_helper.to_array(values[0].attribute[0].t).tolist() if values else []
