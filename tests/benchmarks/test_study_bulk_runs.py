"""The study of bulk runs on a tiny model: whole runs, single titles, the loss of two stages."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import tiny_run
from mlflow_import import WARNINGS

from benchmarks.job_board import Halves
from benchmarks.product.systems import RegisteredModel
from benchmarks.studies.bulk import deviations
from benchmarks.studies.bulk import measure as bulk
from benchmarks.systems import write_model
from benchmarks.workspace import Workspace
from tasks.release.model_package.run_files import RunFiles

pytestmark = [pytest.mark.slow, *WARNINGS]


class TinyArm:
    """A tiny run in the place of ESCO in some languages."""

    def __init__(self, workspace: Workspace, name: str, kept: Path) -> None:
        self.workspace, self.name, self.kept = workspace, name, kept

    def train(self, seeds: list[int], processes: int) -> None:
        assert seeds == [self.workspace.seed] and processes == 1

    @contextmanager
    def served(self, seed: int) -> Iterator[RegisteredModel]:
        write_model(RunFiles.below(self.workspace.folder), self.kept / "model")
        yield RegisteredModel.load(self.kept / "model")


def test_a_whole_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet to Parquet; every answer is that of the exact search."""
    sample = replace(Workspace.read("sample"), folder=tiny_run.make_run(tmp_path / "run"))
    titles = pl.Series([f"nurse {number}" for number in range(60)])
    asked = pl.DataFrame({"query_id": titles, "raw_title": titles, "occupation_id": "nurse"})
    monkeypatch.setattr(deviations, "read_halves", lambda *_: Halves(asked.clear(), asked))
    monkeypatch.setattr(bulk.Workspace, "read", lambda _: sample)
    monkeypatch.setattr(bulk, "distinct_titles", lambda _, count: titles[:count])
    monkeypatch.setattr(bulk, "Arm", TinyArm)
    monkeypatch.setattr(bulk, "on_spark", lambda *_: iter(()))
    monkeypatch.setattr(bulk, "one_thread_speeds", lambda *_: iter(()))
    options = Namespace(
        languages=["all"], titles=[60], rows=[40], cluster=10, processes=1, kept=tmp_path
    )
    *parts, rows = bulk.measure("sample", options)
    assert [part == rows[: len(part)] for part in parts] == [True] * 2, "each run is kept at once"
    figures = {(row.system, row.test, row.metric): row.value for row in rows}
    for metric in ("other_first", "other_top_five"):
        assert figures["all", "vacancies", metric] == 0
    assert figures["all-all_exact", "vacancies", "gain_success_at_1"] == 0
    for part in ("validate", "embed", "embed_and_search", "predict"):
        assert figures["all", f"part/{part}", "titles_per_second"] > 0
    assert figures["machine", "floor", "gigabytes_per_second"] > 0
    assert figures["all", "single", "milliseconds"] > 0
    for test in ("distinct/6e-05m", "repeats/4e-05m"):
        assert figures["all", test, "rows_per_second"] > 0
        assert figures["all", test, "peak_mib"] > 10
        assert figures["all", test, "seconds"] > 0
