"""The study of bulk runs on a tiny model: a saved model, a run in a process, what pruning loses."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import tiny_run
from mlflow_import import WARNINGS

from benchmarks.job_board import Halves
from benchmarks.studies.bulk import measure as bulk
from benchmarks.workspace import Workspace

pytestmark = [pytest.mark.slow, *WARNINGS]


def test_a_whole_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet to Parquet; every pruned answer is that of the exact search."""
    sample = replace(Workspace.read("sample"), folder=tiny_run.make_run(tmp_path / "run"))
    titles = [f"nurse {number}" for number in range(40)]
    asked = pl.DataFrame({"query_id": titles, "cleaned": titles, "occupation_id": "nurse"})
    monkeypatch.setattr(bulk, "read_halves", lambda *_: Halves(asked.clear(), asked))
    monkeypatch.setattr(bulk.Workspace, "read", lambda _: sample)
    monkeypatch.setattr(bulk, "distinct_titles", lambda _, count: titles[:count])
    (rows,) = bulk.measure("sample", Namespace(titles=40, rows=[40], processes=1))
    figures = {(row.system, row.test, row.metric): row.value for row in rows}
    assert figures["rolecall", "vacancies", "same_answer"] == 1
    assert figures["rolecall-exact", "vacancies", "gain_success_at_1"] == 0
    for part in ("validate", "embed", "embed_and_search", "predict"):
        assert figures["rolecall", f"part/{part}", "titles_per_second"] > 0
    assert figures["machine", "floor", "gigabytes_per_second"] > 0
    for test in ("rows/4e-05m", "repeats"):
        assert figures["rolecall", test, "rows_per_second"] > 0
        assert figures["rolecall", test, "peak_mib"] > 10
