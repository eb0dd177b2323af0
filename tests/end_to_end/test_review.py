"""`rolecall normalize`, then `rolecall review`, with a registered model, as processes."""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

import polars as pl
import pytest
import tiny_registry
import tiny_run
from background import rolecall
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]
TITLES = ["nurse (night)", "nurse, night!", "sofware makr", "", "4711", "bread & co", "=coder"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with two registered versions and the answers of both, `one` and `two`."""
    root = tiny_registry.registered(tmp_path_factory.mktemp("root"), 1, 2)
    rows = [(title, number) for number, title in enumerate(TITLES, 1) for _ in range(number)]
    pl.DataFrame(rows, schema=["raw_title", "row"], orient="row").write_csv(root / "in.csv")
    (root / "dvc.yaml").touch()
    for version, output in enumerate(("one", "two"), 1):
        words = ["in.csv", output, f"--model=models:/rolecall/{version}", "--cache-dir=cache"]
        done = typed(root, "normalize", *words, "--prefix=answered_", "--threads=1")
        assert done.returncode == 0, done.stderr
    return root


def typed(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {n: value for n, value in os.environ.items() if n != "MLFLOW_TRACKING_URI"}
    ceiling = {"GIT_CEILING_DIRECTORIES": str(root.parent)}
    return rolecall(root, *words, environment=environment, **ceiling)


def test_the_queue_is_there_whole(root: Path) -> None:
    """Each title once, no near-duplicate, nothing that cannot be read; then again: it is taken."""
    words = ["two", "queue", "--compare-with=one", "--budget=5"]
    done = typed(root, "review", *words)
    assert done.returncode == 0, done.stderr
    assert "by models:/rolecall/2" in done.stdout
    assert sorted(path.name for path in (root / "queue").iterdir()) == ["queue.csv", "review.html"]
    with (root / "queue/queue.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.DictReader(file)]
    titles = [row["raw_title"] for row in rows]
    assert titles and len(titles) == len(set(titles))
    assert not {"", "4711"} & set(titles)
    assert len({title for title in titles if "night" in title}) <= 1
    assert set(titles) <= {"'=coder", *TITLES}
    assert all(row["predicted_occupation_id"] in tiny_run.TAXONOMY for row in rows)
    again = typed(root, "review", *words)
    assert again.returncode == 1
    assert "queue is there already: name another place, or remove it" in again.stderr


def test_two_runs_make_one_queue(root: Path) -> None:
    """The last run's model answers, and each title has the rows of both."""
    done = typed(root, "review", "one", "two", "both", "--budget=9")
    assert done.returncode == 0, done.stderr
    assert "by models:/rolecall/2" in done.stdout
    with (root / "both/queue.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["raw_title"]: int(row["rows"]) for row in csv.DictReader(file)}
    both = {"nurse, night!": 6, "sofware makr": 6, "bread & co": 12, "'=coder": 14}
    assert rows and rows.items() <= both.items()


def test_a_model_that_is_none_leaves_nothing(root: Path) -> None:
    done = typed(root, "review", "two", "none", "--model=models:/rolecall/9")
    assert done.returncode == 1
    assert "no model models:/rolecall/9" in done.stderr
    assert not [*root.glob("none*")]
