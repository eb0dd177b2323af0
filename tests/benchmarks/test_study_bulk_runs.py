"""What the study of bulk runs measures in processes of their own, on a tiny model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import tiny_run
from mlflow_import import WARNINGS

from benchmarks.studies.bulk.inputs import write_model
from benchmarks.studies.bulk.single import WARM, single_titles
from benchmarks.studies.bulk.spark_run import on_spark
from benchmarks.studies.bulk.systems import parts, read_served
from benchmarks.workspace import Workspace

pytestmark = [pytest.mark.slow, *WARNINGS]


def test_parts_of_a_run_and_spark_beside_it(tmp_path: Path) -> None:
    """A saved model, in processes of its own, from Parquet to Parquet; all rows are the same."""
    sample = replace(Workspace.read("sample"), folder=tiny_run.make_run(tmp_path / "run"))
    write_model(sample, 1, tmp_path / "model")
    served = read_served(tmp_path / "model")
    titles = [f"{word} {number}" for number in range(100) for word in ("nurse", "???", "")]
    loaded, asked = single_titles("rolecall", tmp_path / "model", titles[: WARM + 20])
    assert loaded.metric == "load_seconds" and loaded.value < 60
    assert asked.n == 20 and 0 < asked.low <= asked.value <= asked.high
    names = ("words", "featurize", "encode", "search", "answer", "read", "process", "keep", "write")
    (tmp_path / "parts").mkdir()
    rows = [*parts(served, tmp_path / "model", titles, tmp_path / "parts")]
    assert [row.test for row in rows] == [f"part/{name}" for name in names]
    assert all(row.n == 300 and row.metric == "titles_per_second" for row in rows)
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17: install a JRE")
    figures = {row.metric: row.value for row in on_spark(tmp_path / "model", titles, 300, 1, 1)}
    assert figures["same_rows"] == 1 and figures["rows_per_second"] > 0
    each = figures["rows_per_second_and_core"]
    assert figures["cores_for_a_billion"] == pytest.approx(1e9 / 3600 / each)
