"""`rolecall benchmark` as it is typed, with a tiny model in a registry of its own."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
import small_benchmark
import tiny_registry
import tiny_run
from background import rolecall
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]


def test_a_model_beside_the_lexical_systems(tmp_path: Path) -> None:
    """Paths are those of the folder that the command is called in."""
    root = tiny_registry.registered(tmp_path, 1)
    shutil.copy(tiny_run.ROOT / "dvc.yaml", root)
    (root / "deu").mkdir()
    small_benchmark.write(root / "deu", concept=small_benchmark.CONCEPTS)
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    kept |= {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    words = ("benchmark", ".", "--model=models:/rolecall@challenger", "--out")
    benchmark = partial(rolecall, root / "deu", *words, environment=kept)
    done = benchmark("results")
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

    refused = benchmark("queries.tsv")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: ") and len(refused.stderr.splitlines()) == 1
    assert "queries.tsv is no folder" in refused.stderr
    assert "error" not in refused.stdout
