"""Counts of stages as rows: by place, a number by itself, and stages that have not run."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from frames_of import titles_of

from benchmarks.results import Row
from benchmarks.studies.sources.measure import measure, sizes
from benchmarks.studies.sources.readings import changed_share, shared_anywhere
from benchmarks.workspace import Workspace
from tasks.files.frames import write_frame
from tasks.files.schemas import SPLIT_ALIASES, SYNONYM_VARIANTS, TITLES
from tasks.params.whole import load_params

ROOT = Path(__file__).parents[2]
COUNTS = {
    "synonyms": {
        "induction": {
            "candidates": 9,
            "isolated": 2,
            "at_min_contexts": {"1": {"titles": 5}, "2": {"titles": 1}},
        },
        "titles": {"all": {"kept": 7}, "induced": {"kept": 5}},
    },
    "extra_words": {"mined": {"inputs": 8, "by_slice": {"label_agrees": 3}}},
}


def said(measured: Iterator[list[Row]]) -> dict[tuple[str, str, str], float]:
    (rows,) = measured
    return {(row.system, row.test, row.metric): row.value for row in rows}


def test_rows_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    titles = titles_of([("a", "bread baker", "train"), ("a", "bread maker", "train")])
    write_frame(titles, tmp_path / "data/split/titles.parquet", TITLES)
    otherwise = {
        ("synonyms", "induction/anywhere", "accepted"): 1,
        ("typos", "typos", "changed"): 1 / 11,
    }
    assert said(measure("sample", Namespace())) == otherwise  # no stage has run
    for stage, counts in COUNTS.items():
        file = tmp_path / f"data/{stage}/metrics.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(counts), encoding="utf-8")
    assert said(measure("sample", Namespace())) == otherwise | {
        ("synonyms", "induction", "candidates"): 9,
        ("synonyms", "induction", "isolated"): 2,
        ("synonyms", "induction/contexts:1", "titles"): 5,
        ("synonyms", "induction/contexts:2", "titles"): 1,
        ("synonyms", "generated/induced", "kept"): 5,
        ("synonyms", "generated", "kept"): 7,
        ("extra_words", "mined", "inputs"): 8,
        ("extra_words", "mined/source:label_agrees", "rows"): 3,
    }


def test_words_shared_anywhere() -> None:
    """`baker, bread` and `maker` share their places too; the others refuse a rule each."""
    params = load_params(ROOT / "params.yaml").synonyms
    own = {
        "a": ["bread baker", "bread maker"],  # baker, maker
        "b": ["java web developer", "software java engineer"],  # web developer, software engineer
        "c": ["night nurse", "nurse"],  # nothing is left
        "d": ["senior cook", "senior chef & co"],  # special characters
        "e": ["tram driver", "tram driver of the city"],  # nothing is left
        "f": ["head of sales", "head of the sales team here"],  # three words are shared
        "g": ["chief guard", "chief warden of trains"],  # a part of three words
        "h": ["old waiter", "old steward"],
        "i": ["steward"],  # a title by itself
    }
    titles = titles_of((name, title, "train") for name, several in own.items() for title in several)
    assert shared_anywhere(titles, params) == 2


def test_one_character_changes_at_least() -> None:
    """5 % of 4 characters is none, of 20 one, of 40 two: 4 of 64."""
    assert changed_share(["a" * 4, "b" * 20, "c" * 40], 0.05) == 4 / 64


def test_sizes_before_and_after_synonyms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One occupation of two titles and one of one; a synonym gives the latter a second."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    rows = [("a", "baker"), ("a", "bread maker"), ("b", "nurse")]
    aliases = pl.DataFrame(
        [(name, title, False, title, title, "train") for name, title in rows],
        schema=dict(SPLIT_ALIASES),
        orient="row",
    )
    made = pl.DataFrame(
        [("nurse", "nursing aide", "nursing aide", "nurse", "nursing aide", "manual")],
        schema=dict(SYNONYM_VARIANTS),
        orient="row",
    )
    write_frame(aliases, tmp_path / "data/split/aliases.parquet", SPLIT_ALIASES)
    write_frame(made, tmp_path / "data/synonyms/variants.parquet", SYNONYM_VARIANTS)
    counts = [(row.system, row.test, row.value) for row in sizes(Workspace.read("sample"))]
    assert counts == [
        ("taxonomy", "occupation_size:1", 1),
        ("taxonomy", "occupation_size:2", 1),
        ("with_synonyms", "occupation_size:2", 2),
    ]
