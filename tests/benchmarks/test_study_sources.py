"""Counts of stages as rows: by place, a number by itself, and stages that have not run."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.studies.sources.measure import measure

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


def test_rows_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    assert list(measure("sample", Namespace())) == [[]]  # no stage has run
    for stage, counts in COUNTS.items():
        file = tmp_path / f"data/{stage}/metrics.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(counts), encoding="utf-8")
    (rows,) = measure("sample", Namespace())
    assert {(row.system, row.test, row.metric): row.value for row in rows} == {
        ("synonyms", "induction", "candidates"): 9,
        ("synonyms", "induction", "isolated"): 2,
        ("synonyms", "induction/contexts:1", "titles"): 5,
        ("synonyms", "induction/contexts:2", "titles"): 1,
        ("synonyms", "generated/induced", "kept"): 5,
        ("synonyms", "generated", "kept"): 7,
        ("extra_words", "mined", "inputs"): 8,
        ("extra_words", "mined/source:label_agrees", "rows"): 3,
    }
