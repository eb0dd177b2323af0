"""Made titles and taxonomies, and the parts of an answer, on a toy."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
from served_toy import toy_normalizer

from benchmarks.studies.bulk.inputs import _again, distinct_titles, write_titles
from benchmarks.studies.bulk.systems import speeds, system_answer, unpruned
from benchmarks.studies.bulk.whole_run import _memory
from benchmarks.workspace import Workspace
from tasks.files.frames import write_frame
from tasks.files.schemas import INPUTS


def test_titles_are_distinct_and_drawn_by_the_seed(workspace: Path, tmp_path: Path) -> None:
    raw = ["Nurse", "Cook (nights)", "", "C++ developer"]
    inputs = {"input_id": [*range(4)], "raw_title": raw, "occupation_id": [None] * 4}
    (tmp_path / "data/ingest").mkdir(parents=True)
    write_frame(pl.DataFrame(inputs, INPUTS), tmp_path / "data/ingest/inputs.parquet", INPUTS)
    sample = replace(Workspace.read("sample"), folder=tmp_path)
    titles = distinct_titles(sample, 2000)
    assert len(titles) == len(set(titles)) == 2000
    assert distinct_titles(sample, 2000) == titles
    assert all(" - " in title for title in titles)


def test_rows_have_each_title_as_often(tmp_path: Path) -> None:
    titles = ["nurse", "baker", "cook"]
    files = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for file in files:
        write_titles(titles, 12, file, seed=1)
    rows = pq.read_table(files[0])["raw_title"].to_pylist()
    assert Counter(rows) == dict.fromkeys(titles, 4)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_larger_taxonomy_has_other_titles() -> None:
    frame = pl.DataFrame({"occupation_id": ["a", "b"], "title": ["Nurse", "Cook"], "preferred": 1})
    larger = pl.concat(_again(frame, 12))
    assert len(larger) == 24 and larger["occupation_id"].n_unique() == 24
    assert larger["title"].n_unique() == 24 and larger["title"][2] == "Nurse retail"


def test_speeds() -> None:
    titles = ["nurse", "bread maker", "ward sister nights"] * 20
    assert len([*speeds("rolecall", toy_normalizer(), titles, 3)]) == 3


def test_unpruned_is_the_exact_search() -> None:
    normalizer = unpruned(toy_normalizer())
    assert normalizer.pruned is None
    answer = system_answer("exact", normalizer)(["nurse"])
    assert answer[0].occupation_id == "nurse"  # type: ignore[index]


def test_memory_is_that_of_a_process_and_its_children() -> None:
    assert _memory(os.getpid()) > 10
