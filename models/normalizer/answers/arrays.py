"""Arrow arrays without `pyarrow.array`, which imports pandas: half a second for one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, Int32, Shaped


def arrow_numbers(
    values: Shaped[np.ndarray, " row"], known: Bool[np.ndarray, " row"] | None = None
) -> pa.Array:
    """Return numbers or truth values; null where they are not `known`."""
    data = np.packbits(values, bitorder="little") if values.dtype == bool else values
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [_validity(known), _buffer(data)])


def arrow_texts(values: Sequence[str | None]) -> pa.StringArray:
    """Return texts; None is null."""
    encoded = [b"" if value is None else value.encode() for value in values]
    known = np.array([value is not None for value in values], bool) if None in values else None
    buffers = [_validity(known), _buffer(ends_of([*map(len, encoded)]))]
    buffers.append(pa.py_buffer(b"".join(encoded)))
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def arrow_lists(values: Sequence[Sequence[str]]) -> pa.ListArray:
    """Return lists of texts."""
    texts = arrow_texts([text for own in values for text in own])
    return arrow_listed(ends_of([*map(len, values)]), texts)


def ends_of(lengths: Sequence[int] | Int[np.ndarray, " row"]) -> Int32[np.ndarray, " row+1"]:
    """Return where each of so long ones begins, and where the last one ends."""
    ends = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, dtype=np.int32, out=ends[1:])
    return ends


def arrow_listed(ends: Int32[np.ndarray, " row+1"], values: pa.Array) -> pa.ListArray:
    """Return lists of values that begin where `ends` says, the last one is theirs."""
    buffers = [None, _buffer(ends)]
    return pa.Array.from_buffers(pa.list_(values.type), len(ends) - 1, buffers, children=[values])


def _validity(known: Bool[np.ndarray, " row"] | None) -> pa.Buffer | None:
    if known is None or known.all():
        return None
    return _buffer(np.packbits(known, bitorder="little"))


def _buffer(values: Shaped[np.ndarray, " row"]) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(values))
