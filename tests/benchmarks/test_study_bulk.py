"""Made titles, and the memory of a run."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from benchmarks.studies.bulk.inputs import distinct_titles, write_titles
from benchmarks.studies.bulk.whole_run import _memory
from benchmarks.workspace import Workspace
from tasks.io.frames import write_frame
from tasks.io.schemas import INPUTS


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
    assert _memory(os.getpid()) > 10
