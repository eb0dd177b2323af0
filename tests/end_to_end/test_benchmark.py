"""`rolecall benchmark` as it is typed, with a tiny model in a registry of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import small_benchmark
import tiny_registry
import tiny_run
from background import rolecall
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]
CHALLENGER = "--model=models:/rolecall@challenger"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with one registered version, and a benchmark in the folder `deu`."""
    root = tiny_registry.registered(tmp_path_factory.mktemp("root"), 1)
    shutil.copy(tiny_run.ROOT / "dvc.yaml", root)
    (root / "deu").mkdir()
    small_benchmark.write(root / "deu", concept=small_benchmark.CONCEPTS)
    return root


def benchmark(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Type the command in a folder below the root."""
    environment = {n: value for n, value in os.environ.items() if n != "MLFLOW_TRACKING_URI"}
    ceiling = {"GIT_CEILING_DIRECTORIES": str(root.parent)}
    return rolecall(root / "deu", "benchmark", *words, environment=environment, **ceiling)


def test_a_model_beside_the_lexical_systems(root: Path) -> None:
    """Paths are those of the folder that the command is called in."""
    done = benchmark(root, ".", CHALLENGER, "--out", "results")
    assert done.returncode == 0, done.stderr
    assert "2 queries, 5 corpus elements, which rank as 3 concepts" in done.stdout
    assert "1 query without a relevant element left out" in done.stdout
    rows = [line.split(" | ")[0] for line in done.stdout.splitlines() if line.startswith("| ")]
    systems = [row.removeprefix("| ").strip() for row in rows[2:]]
    assert systems == ["models:/rolecall/1", "n-gram matcher", "TF-IDF"]
    written = json.loads((root / "deu/results/metrics.json").read_text())
    assert written["systems"].keys() == {"model", "ngram", "tfidf"}
    assert (written["model"], written["documents"]) == ("models:/rolecall/1", 3)
    assert (root / "deu/results/qrels.trec").read_text() == "Q1 0 it 1\nQ2 0 food 1\n"
    assert len((root / "deu/results/run.trec").read_text().splitlines()) == 2 * 3


def test_without_concepts(root: Path) -> None:
    done = benchmark(root, ".", CHALLENGER, "--no-concepts")
    assert "2 queries, 5 corpus elements\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((".", "--model=models:/rolecall/7"), "no model models:/rolecall/7 in "),
        (("..", CHALLENGER), "queries.tsv is missing. A benchmark is a folder with queries.tsv"),
        ((".", CHALLENGER, "--out=queries.tsv"), "queries.tsv is no folder"),
    ],
)
def test_errors_stand_once_at_the_end(root: Path, words: list[str], message: str) -> None:
    done = benchmark(root, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("\nerror: ") and len(done.stderr.splitlines()) == 2
    assert message in done.stderr
    assert "error" not in done.stdout and "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("words", [(".",), (".", CHALLENGER, "--depth=9"), (CHALLENGER,)])
def test_wrong_usage(root: Path, words: list[str]) -> None:
    assert benchmark(root, *words).returncode == 2
