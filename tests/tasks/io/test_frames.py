"""Frames at the edge: what is refused, what is left behind, and equal bytes."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tasks.io.files import write_json
from tasks.io.frames import SchemaError, check, read_frame, write_frame

SCHEMA = {"a": pl.String, "b": pl.List(pl.String), "c": pl.UInt32}
FRAME = pl.DataFrame({"a": ["x"], "b": [["y"]], "c": [1]}, schema=SCHEMA)
MANY = """
import sys
from pathlib import Path
import polars as pl
from tasks.io.frames import write_frame
n = 300_000
frame = pl.select(
    a=pl.format("title {}", pl.int_range(n) % 1000),
    b=pl.concat_list(pl.format("o{}", pl.int_range(n) % 77)),
    c=pl.int_range(n, dtype=pl.UInt32),
)
assert pl.thread_pool_size() == int(sys.argv[2])
write_frame(frame, Path(sys.argv[1]), dict(frame.schema))
"""


def test_every_wrong_column_is_named() -> None:
    wrong = pl.DataFrame({"a": [1], "c": [1], "extra": [0]}, schema_overrides={"c": pl.UInt32})
    with pytest.raises(SchemaError) as error:
        check(wrong, SCHEMA, "file.parquet")
    message = str(error.value)
    assert message.startswith("file.parquet: ") and "Rerun the stage" in message
    faults = ["a: Int64, expected String", "b: missing, expected List(String)"]
    faults.append("extra: not expected")
    assert all(fault in message for fault in faults) and "c:" not in message


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "new" / "f.parquet"
    write_frame(FRAME.select("b", "c", "a"), path, SCHEMA)
    assert read_frame(path, SCHEMA).equals(FRAME)
    with pytest.raises(SchemaError, match=r"f\.parquet: c: not expected"):
        read_frame(path, {"a": pl.String, "b": pl.List(pl.String)})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"f\.parquet is missing: run `dvc repro`"):
        read_frame(tmp_path / "f.parquet", SCHEMA)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    write_frame(FRAME, path, SCHEMA)
    before = path.read_bytes()
    with pytest.raises(SchemaError):
        write_frame(FRAME.drop("a"), path, SCHEMA)
    write_json({"b": "é", "a": {"d": 1, "c": 2}}, tmp_path / "j.json")
    with pytest.raises(TypeError):
        write_json({"b": object()}, tmp_path / "j.json")
    text = (tmp_path / "j.json").read_text(encoding="utf-8")
    assert text == '{\n  "a": {\n    "c": 2,\n    "d": 1\n  },\n  "b": "é"\n}\n', "sorted"
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.parquet", "j.json"]


@pytest.mark.thorough
def test_equal_bytes_whatever_the_threads(tmp_path: Path) -> None:
    """Three row groups of many strings, written by 1 and by 4 threads."""
    digests = set()
    for threads in ("1", "4"):
        path = tmp_path / threads
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        command = [sys.executable, "-c", MANY, str(path), threads]
        subprocess.run(command, env=environment, check=True)
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1
