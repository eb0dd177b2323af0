"""Every type of Arrow as cells that a person reads."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tasks.apps.bulk.readable import readable
from tasks.apps.bulk.single_file import write_tables


@pytest.mark.parametrize(
    ("cells", "kind", "texts"),
    [
        ([["a", None, "b"], [], None], pa.list_(pa.string()), ["a; b", "", None]),
        ([[1 / 3, 1.0], None], pa.list_(pa.float64()), ["0.3333; 1.0", None]),
        ([[1, 2]], pa.list_(pa.int64(), 2), ["1; 2"]),
        ([[True]], pa.large_list(pa.bool_()), ["true"]),
        ([{"é": [1]}, None], pa.struct([("é", pa.list_(pa.int8()))]), ['{"é": [1]}', None]),
        ([[["a"], None]], pa.list_(pa.list_(pa.string())), ['[["a"], null]']),
        ([b"\xff\x00", None], pa.binary(), ["/wA=", None]),
        (["a", None], pa.dictionary(pa.int8(), pa.string()), ["a", None]),
        ([None], pa.null(), [None]),
        ([[timedelta(seconds=1)]], pa.list_(pa.duration("us")), ['["0:00:01"]']),
        ([[("k", 1)]], pa.map_(pa.string(), pa.int8()), ['{"k": 1}']),
        ([timedelta(seconds=-1)], pa.duration("us"), ["-PT1S"]),
        ([1.25, None], pa.float64(), [1.25, None]),
        ([True, None], pa.bool_(), [True, None]),
    ],
)
def test_a_column(cells: list[Any], kind: pa.DataType, texts: list[Any]) -> None:
    frame = readable(pa.table({"a": pa.array(cells, kind), "b": pa.nulls(len(cells))}))
    assert frame.columns == ["a", "b"]
    assert frame["a"].to_list() == texts


def test_no_row_is_fine() -> None:
    assert readable(pa.table({"a": pa.array([], pa.list_(pa.string()))})).shape == (0, 1)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_every_type_can_be_written(tmp_path: Path, suffix: str) -> None:
    kinds = [pa.time32("s"), pa.time64("ns"), pa.date32(), pa.date64(), pa.timestamp("ns", "CET")]
    kinds += [pa.decimal128(9, 2), pa.float16(), pa.uint64(), pa.int8(), pa.large_binary()]
    kinds += [pa.string_view(), pa.large_string(), pa.list_(pa.date32()), pa.timestamp("s")]
    schema = pa.schema([(str(kind), kind) for kind in kinds])
    table = pa.table([pa.nulls(2, kind) for kind in kinds], schema)
    write_tables(schema, [table, table], tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").stat().st_size
