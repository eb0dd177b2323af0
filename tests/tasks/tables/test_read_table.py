"""Chunks hold what rows do, faulty records among them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tasks.tables.read_table import read_rows, read_table
from tasks.tables.rejected import RejectedRows

CONTENT = 'b;c;a\n1;;"x\ny"\n;;\n2;z\n3;;caf\ufffd\n4;;"d;"\n5;;"\n6;;w\n'
COLUMNS = {"first": "a", "second": "b", "again": "b"}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_the_same_rows_in_chunks_of_any_size(
    tmp_path: Path, name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    if name == "f.csv":
        path.write_bytes(CONTENT.encode().replace(b"\xef\xbf\xbd", b"\xe9\xc3\xa9\xff"))
    else:
        frame = pl.DataFrame({"a": ["x", " ", "y\x00", None], "b": [1, None, 2, 3]})
        frame.write_parquet(path)
    for module in ("rejected", "typed_tables"):
        monkeypatch.setattr(f"tasks.tables.{module}.CHUNK", size)
    rows, chunked = RejectedRows(), RejectedRows()
    taken = [(row.line, *row.values.values()) for row in read_rows(path, COLUMNS, "From us.", rows)]
    chunks = list(read_table(path, COLUMNS, "From us.", chunked))
    whole = pl.concat(pl.concat([chunk.places, chunk.values], how="horizontal") for chunk in chunks)
    assert max(len(chunk.places) for chunk in chunks) <= size
    assert whole.filter(pl.col("fault").is_null()).select("line", *COLUMNS).rows() == taken
    refused = whole.drop_nulls("fault").select("line", "fault", "text").rows()
    assert refused == [row[1:] for row in rows.refused]
    assert len(refused) >= 2
    assert chunked.read_as() == rows.read_as()
    assert chunked.rows == {}
