"""Counts of stages as tidy rows: by place, a number by itself, and stages that have not run."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.names import unnamed
from benchmarks.render import page
from benchmarks.results_file import COLUMNS, read_rows, replace_rows
from benchmarks.sources import rows

ROOT = Path(__file__).parents[2]
SYNONYMS = {
    "induction": {
        "candidates": 9,
        "isolated": 2,
        "at_min_contexts": {"1": {"titles": 5}, "2": {"titles": 1}},
    },
    "titles": {"all": {"kept": 7}, "induced": {"kept": 5}},
}
EXTRA_WORDS = {"mined": {"inputs": 8, "by_slice": {"label_agrees": 3}}}


def workspace(folder: Path, **metrics: object) -> Path:
    """A workspace in which these stages have run."""
    (folder / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    for stage, counts in metrics.items():
        file = folder / f"data/{stage}/metrics.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(counts), encoding="utf-8")
    return folder


def test_rows_by_hand(tmp_path: Path) -> None:
    found = list(rows("sample", workspace(tmp_path, synonyms=SYNONYMS, extra_words=EXTRA_WORDS)))
    assert {(row["system"], row["test"], row["metric"]): row["value"] for row in found} == {
        ("synonyms", "induction", "candidates"): 9,
        ("synonyms", "induction", "isolated"): 2,
        ("synonyms", "induction/contexts:1", "titles"): 5,
        ("synonyms", "induction/contexts:2", "titles"): 1,
        ("synonyms", "generated/induced", "kept"): 5,
        ("synonyms", "generated", "kept"): 7,
        ("extra_words", "mined", "inputs"): 8,
        ("extra_words", "mined/source:label_agrees", "rows"): 3,
    }
    assert all(set(row) == set(COLUMNS) for row in found)


def test_the_page_has_both_rows_of_induction(tmp_path: Path) -> None:
    replace_rows(list(rows("sample", workspace(tmp_path, synonyms=SYNONYMS))), tmp_path)
    found = read_rows(tmp_path / "sources.csv")
    assert not unnamed(found)
    text = page(tmp_path)
    assert "| synonyms | induction/contexts:1 | titles | 5 |" in text
    assert "| synonyms | induction/contexts:2 | titles | 1 |" in text


def test_no_stage_has_run(tmp_path: Path) -> None:
    assert list(rows("sample", workspace(tmp_path))) == []
