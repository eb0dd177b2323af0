"""Products of four titles with sixteen rows of whole numbers, in a processor's own instructions.

A block holds two neighbouring numbers of each of its rows, then the next two: so a processor that
multiplies pairs and adds them up (x86: `vpmaddwd`, `vpdpwssd`) needs no sum across a vector. LLVM
finds no such instructions in numba's loops, so they are written out for it; other processors get
what they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Int64, Shaped

LANES = 16
"""Rows of a block."""


def blocks_of(
    rows: Shaped[np.ndarray, "row dim"],
) -> Shaped[np.ndarray, "block pair number"]:
    """Return rows of whole numbers, as many as fill blocks."""
    even = in_pairs(rows)
    pairs = even.reshape(len(even) // LANES, LANES, even.shape[1] // 2, 2)
    turned = np.ascontiguousarray(pairs.transpose(0, 2, 1, 3))
    return turned.reshape(*turned.shape[:2], 2 * LANES)


def in_pairs(rows: Shaped[np.ndarray, "row dim"]) -> Shaped[np.ndarray, "row number"]:
    """Return rows with a zero more where their length is odd."""
    return np.pad(rows, ((0, 0), (0, 1))) if rows.shape[1] % 2 else rows


def filled(
    starts: Int64[np.ndarray, " group+1"],
) -> tuple[Int64[np.ndarray, " row"], Int64[np.ndarray, " group+1"]]:
    """Fill blocks with the rows of each group, of which there are some.

    Returns:
        The rows of all blocks, with the last one of a group again where its block has room; and
        where the blocks of each group begin, with the end of the last.
    """
    sizes = np.diff(starts)
    blocks = -(-sizes // LANES)
    begins = np.concatenate([[0], np.cumsum(blocks)])
    ranks = np.arange(begins[-1] * LANES) - np.repeat(begins[:-1], blocks * LANES) * LANES
    last = np.repeat(sizes - 1, blocks * LANES)
    return np.repeat(starts[:-1], blocks * LANES) + np.minimum(ranks, last), begins


def multiply_block(typing: Any, titles: Any, block: Any, sums: Any, start: Any) -> Any:  # noqa: ANN401
    """Write the products of titles with the rows of a block to `sums`, from column `start` on.

    It is an intrinsic of numba: its arguments are types, and it returns how LLVM's code is made.
    The titles are a tuple of arrays of 16 bits, the sums 32-bit floats.
    """
    from numba.core import cgutils, types

    ir = cgutils.ir  # llvmlite's

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        int16, int32 = ir.IntType(16), ir.IntType(32)
        shorts, longs = ir.VectorType(int16, 2 * LANES), ir.VectorType(int32, 2 * LANES)
        lanes, floats = ir.VectorType(int32, LANES), ir.VectorType(ir.FloatType(), LANES)
        even, odd = (ir.Constant(lanes, [*range(at, 2 * LANES, 2)]) for at in (0, 1))
        rows = context.make_array(block)(context, builder, values[1])
        stored = ir.VectorType(ir.IntType(block.dtype.bitwidth), 2 * LANES)
        numbers = builder.bitcast(rows.data, stored.as_pointer())
        pairs, totals = [], []
        for place, title in enumerate(titles):
            value = builder.extract_value(values[0], place)
            data = context.make_array(title)(context, builder, value).data
            pairs.append(builder.bitcast(data, int32.as_pointer()))
            totals.append(cgutils.alloca_once_value(builder, ir.Constant(lanes, None)))
        with cgutils.for_range(builder, cgutils.unpack_tuple(builder, rows.shape)[0]) as loop:
            row = builder.load(builder.gep(numbers, [loop.index]), align=1)
            row = builder.sext(row, longs)
            for pair, total in zip(pairs, totals, strict=True):
                both = builder.load(builder.gep(pair, [loop.index]), align=2)
                both = builder.insert_element(ir.Constant(lanes, ir.Undefined), both, int32(0))
                both = builder.shuffle_vector(both, both, ir.Constant(lanes, None))
                product = builder.mul(row, builder.sext(builder.bitcast(both, shorts), longs))
                own = (builder.shuffle_vector(product, product, half) for half in (even, odd))
                builder.store(builder.add(builder.load(total), builder.add(*own)), total)
        table = context.make_array(sums)(context, builder, values[2])
        for place, total in enumerate(totals):
            at = [context.get_constant(types.intp, place), values[3]]
            pointer = cgutils.get_item_pointer(context, builder, sums, table, at)
            made = builder.sitofp(builder.load(total), floats)
            builder.store(made, builder.bitcast(pointer, floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(titles, block, sums, start), code
