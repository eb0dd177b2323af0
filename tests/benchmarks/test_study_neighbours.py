"""Neighbours as rows and as tables, from lists made by hand."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import Run, read_rows, replace_rows
from benchmarks.studies.neighbours import measure as module
from benchmarks.studies.neighbours.page import tables
from benchmarks.study import study
from tasks.files.command import ROOT
from tasks.reporting.nearest import Likened, Near

FOUND: dict[str, list[Any]] = {
    "ngrams": [Likened("bak", "", [Near("ake␣", 0.9), Near("ker", -0.25)])],
    "misspelt": [Likened("bakr/cook", "", [Near("baker", 0.5, right=True), Near("cook", 0.25)])],
    "unknown": [],
    "told_apart": [(Likened("cook", "cook's mate", [Near("chef", 0.75, right=True)]), 0.125)],
}


@pytest.fixture
def rows(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    for name, found in FOUND.items():
        monkeypatch.setattr(module, name, lambda _, found=found: found)
    monkeypatch.setattr(module, "load_material", lambda *_: None)
    (measured,) = module.measure("sample", Namespace())
    replace_rows("neighbours", "sample", measured, Run("here", "it"), tmp_path, by_system=False)
    return read_rows(tmp_path / "neighbours.csv")


def test_a_row_is_a_neighbour(rows: list[dict[str, str]]) -> None:
    assert {(row["test"], row["metric"], float(row["value"])) for row in rows} == {
        ("ngrams/bak", "near: ake␣", 0.9),
        ("ngrams/bak", "near: ker", -0.25),
        ("misspelt/bakr/cook", "right: baker", 0.5),
        ("misspelt/bakr/cook", "near: cook", 0.25),
        ("pairs/cook", "not the same: cook's mate", 0.125),
        ("pairs/cook", "right: chef", 0.75),
    }
    assert list(study("neighbours").meanings(rows))


def test_tables(rows: list[dict[str, str]]) -> None:
    """A line for each string; right aliases are bold."""
    made = "\n".join(tables({"neighbours": rows}))
    assert "| bak | ake␣ 0.900, ker -0.250 |" in made
    assert "| bakr/cook | **baker** 0.500, cook 0.250 |" in made
    assert "| cook | cook's mate 0.125 | **chef** 0.750 |" in made
    assert made.count("### sample: ") == 4


def test_what_the_answer_counts_holds() -> None:
    """Own titles first, right ones second, the other of two titles never first: of six each."""
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in read_rows(ROOT / "results/neighbours.csv"):
        kind, _, title = row["test"].partition("/")
        found.setdefault((kind, title), []).append((float(row["value"]), row["metric"]))
    best = {key: sorted(near, reverse=True) for key, near in found.items()}
    misspelt = [near for (kind, _), near in best.items() if kind == "misspelt"]
    assert [near[0][1].startswith("right: ") for near in misspelt] == [True] * 6
    assert sum(near[1][1].startswith("right: ") for near in misspelt) == 5
    assert best["unknown_words", "fishmonger"][0][1] == "near: fisher"
    told_apart = {title: near for (kind, title), near in best.items() if kind == "pairs"}
    assert len(told_apart) == 6
    for near in told_apart.values():
        (other,) = {metric.partition(": ")[2] for _, metric in near if metric.startswith("not ")}
        assert not near[0][1].endswith(f": {other}")
    without = {t for t, near in told_apart.items() if not any("right: " in m for _, m in near)}
    assert without == {"fish farmer"}
