"""The arguments that the flows `normalize` and `review` pass to their processes, and the facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flows import normalize, review
from flows.workspaces.feedback_folder import feedback_folder
from tasks.io.bulk_output import manifest_of

MANIFEST: dict[str, Any] = {
    "rows": 2417,
    "parts": [{}],
    "answered": 2000,
    "abstained": {"low confidence": 410, "unreadable": 7},
    "refused": 0,
    "result": {"model": "models:/toy/1", "model_version": "1", "taxonomy_version": "abc"},
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Note the modules that would run, with their arguments."""
    noted: list[tuple[str, list[str]]] = []

    def run_module(name: str, module: str, arguments: Sequence[str], root: Path) -> None:
        noted.append((module, list(arguments)))

    for flow in (normalize, review):
        monkeypatch.setattr(flow, "run_module", run_module)
        monkeypatch.setattr(flow, "publish", lambda *facts: None)
    return noted


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "params.yaml").write_text("register: {name: toy}\n")
    (tmp_path / "out").mkdir()
    manifest_of(tmp_path / "out").write_text(json.dumps(MANIFEST))
    return tmp_path


def test_options_of_normalize(root: Path, calls: list[tuple[str, list[str]]]) -> None:
    """Ask the champion and use the clone's own cache, unless others are named."""
    output = str(root / "out")
    options = {"code_depth": 2, "column": "headline"}
    assert normalize.normalize_in(root, "in.csv", output, "", options) == MANIFEST
    normalize.normalize_in(root, "in.csv", output, "models:/toy/1", {}, "/cache")
    assert [arguments for _, arguments in calls] == [
        [
            *("in.csv", output, "--model=models:/toy@champion"),
            *(f"--cache-dir={root / normalize.CACHE_DIR}", "--code-depth=2", "--column=headline"),
        ],
        ["in.csv", output, "--model=models:/toy/1", "--cache-dir=/cache"],
    ]


def test_facts_of_normalize() -> None:
    assert normalize.facts(MANIFEST, "a.csv") == {
        "rows": "2,417, parts: 1",
        "answers": "2,000",
        "without": "410 low confidence, 7 unreadable",
        "model": "models:/toy/1, 1; taxonomy abc",
        "output": "a.csv",
    }
    refused = normalize.facts(MANIFEST | {"refused": 3}, "a.csv")["refused"]
    assert refused == "3 rows, with reasons: a.refused.csv"


def test_options_of_review(
    root: Path, calls: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    (root / "out" / review.QUEUE).write_text("raw_title,predicted_occupation_id,rows\n")
    output = str(root / "out")
    review.review.fn(["answers"], output, {"budget": "5", "compare_with": "/old"})
    options = ["--budget=5", "--compare-with=/old", f"--feedback={feedback_folder(root)}"]
    assert calls == [(review.REVIEW, ["answers", output, *options])]


def test_several_runs_of_review(
    root: Path, calls: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facts say how many there are and which counts as the newest."""
    monkeypatch.chdir(root)
    (root / "out" / review.QUEUE).write_text("raw_title,predicted_occupation_id,rows\n")
    output = str(root / "out")
    facts = review.review.fn(["one", "two"], output)
    assert facts["runs"] == "2, the newest two"
    ((_, arguments),) = calls
    assert arguments[:3] == ["one", "two", output]


def test_the_facts_name_files_that_were_left_out() -> None:
    """A column that is misspelt in one file of a folder costs its rows: nobody may miss that."""
    result = MANIFEST["result"] | {"left_out": ["README.txt", "march.csv"]}
    facts = normalize.facts(MANIFEST | {"result": result}, "out")
    assert facts["left out"] == "README.txt, march.csv: without a column of titles"
    assert "left out" not in normalize.facts(MANIFEST, "out")
