"""The study of bulk runs: made titles, the memory of a run, and a whole study of a tiny model."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
import tiny_run
from mlflow_import import WARNINGS

from benchmarks.studies import bulk
from benchmarks.studies.bulk_runs import distinct_titles, memory_of, write_titles
from benchmarks.systems import RegisteredModel, write_model
from benchmarks.workspace import Halves, Workspace
from tasks.io.frames import write_frame
from tasks.io.schemas import INPUTS
from tasks.release.model_package.run_files import RunFiles

pytestmark = WARNINGS


def test_titles_are_distinct_and_drawn_by_the_seed(workspace: Path, tmp_path: Path) -> None:
    raw = ["Nurse", "Cook (nights)", "", "C++ developer"]
    inputs = {"input_id": [*range(4)], "raw_title": raw, "occupation_id": [None] * 4}
    (tmp_path / "data/ingest").mkdir(parents=True)
    write_frame(pl.DataFrame(inputs, INPUTS), tmp_path / "data/ingest/inputs.parquet", INPUTS)
    sample = replace(Workspace.read("sample"), folder=tmp_path)
    titles = distinct_titles(sample, 2000).to_list()
    assert len(titles) == len(set(titles)) == 2000
    assert distinct_titles(sample, 2000).to_list() == titles
    assert all(" - " in title for title in titles)


def test_rows_have_each_title_as_often(tmp_path: Path) -> None:
    titles = pl.Series(["nurse", "baker", "cook"])
    files = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for file in files:
        write_titles(titles, 12, file, seed=1)
    rows = pq.read_table(files[0])["raw_title"].to_pylist()
    assert Counter(rows) == dict.fromkeys(titles.to_list(), 4)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_memory_is_that_of_a_process_and_its_children() -> None:
    assert memory_of(os.getpid()) > 10


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


@pytest.mark.slow
def test_a_whole_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet to Parquet; every answer is that of the exact search."""
    sample = replace(Workspace.read("sample"), folder=tiny_run.make_run(tmp_path / "run"))
    titles = pl.Series([f"nurse {number}" for number in range(60)])
    asked = pl.DataFrame({"query_id": titles, "raw_title": titles, "occupation_id": "nurse"})
    monkeypatch.setattr(bulk, "read_halves", lambda *_: Halves(asked.clear(), asked))
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
    for part in ("embed", "predict"):
        assert figures["all", f"part/{part}", "titles_per_second"] > 0
    assert figures["machine", "floor", "gigabytes_per_second"] > 0
    assert figures["all", "single", "milliseconds"] > 0
    for test in ("distinct/6e-05m", "repeats/4e-05m"):
        assert figures["all", test, "rows_per_second"] > 0
        assert figures["all", test, "peak_mib"] > 10
        assert figures["all", test, "seconds"] > 0
