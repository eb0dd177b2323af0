"""`rolecall retrain` in a fresh clone, on the embedded sample, at full size."""

from __future__ import annotations

import csv
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from clones import IN_GIT, MIX, MODEL, OTHER, SEED, Clone, fresh_clone

pytestmark = pytest.mark.slow
TRAINED = re.compile(
    r"data/(train|simulate_feedback|feedback|pairs/(verdicts|corrections)|evaluate|table3|report)(/|$)"
)
VERSION = re.compile(r"^model   rolecall-sample version 1, (champion|challenger)$", re.MULTILINE)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, home: Path) -> tuple[Clone, str]:
    """Return the clone and what the command printed, with another hash seed, zone and locale."""
    clone = fresh_clone(tmp_path_factory.mktemp("fresh"), home)
    assert clone.files().keys() <= IN_GIT
    return clone, clone.retrain(**OTHER)


def test_it_prints_its_progress_and_results(fresh: tuple[Clone, str]) -> None:
    """Show progress while it works; at the end the table, the report, the model."""
    clone, printed = fresh
    assert re.search(r"stage 1 of 21 +ingest", printed)
    assert re.search(rf"train_feedback@{MODEL}: step 100/\d+ ", printed)
    end = printed.splitlines()[-32:]
    assert any(line.split()[:4] == ["test", "system", "success_at_1", "mrr"] for line in end)
    for system in ("ngram", "tfidf", "untrained", MIX):
        tests = {line.split()[0] for line in end if line.split()[1:2] == [system]}
        assert {"typos", "composition", "extra_words", "heldout_alias", "annotations"} <= tests
    page = clone.root / "data/gate/report.html"
    assert f"report  {page}" in end
    assert page.stat().st_size > 10_000
    assert VERSION.search(printed)
    assert "data    pushed to DVC's remote" in end


def test_the_lock_is_the_committed_one(fresh: tuple[Clone, str]) -> None:
    """Compare byte for byte before training, then in all but what training has made.

    Another kind of processor gives other weights, and so another lock (`docs/design/training.md`).
    `test_reproduce.py` shows that one machine gives the same bytes twice.
    """
    clone, _ = fresh
    assert clone.is_up_to_date()
    assert clone.changed() in ("", " M dvc.lock\n")
    committed = yaml.safe_load(clone.git("show", "HEAD:dvc.lock"))["stages"]
    for name, stage in yaml.safe_load(clone.lock)["stages"].items():
        assert without_trained(stage) == without_trained(committed[name]), name


def without_trained(stage: dict[str, Any]) -> dict[str, Any]:
    """Return a stage of a lock; of files that depend on trained weights the name alone."""
    return stage | {
        kind: [
            file["path"] if TRAINED.match(file["path"]) else file for file in stage.get(kind, [])
        ]
        for kind in ("deps", "outs")
    }


def test_a_second_run_skips_all(fresh: tuple[Clone, str]) -> None:
    """Run in under 30 s; processor time, so that a busy machine does not fail the test."""
    clone, _ = fresh
    lock, start = clone.lock, os.times()
    second = clone.retrain()
    end = os.times()
    assert (
        end.children_user + end.children_system < 30 + start.children_user + start.children_system
    )
    assert clone.lock == lock
    assert second.splitlines()[-1] == "to do   nothing"
    assert "rolecall-sample version 1" in second
    assert "(registered before)" in second
    assert versions(clone) == ["1"]


def versions(clone: Clone) -> list[str]:
    """List the versions of the registered model, at the address that the documentation names."""
    address = clone.run(sys.executable, "-m", "flows.cli", "models", "--address").strip()
    assert address == f"sqlite:///{clone.root}/.mlflow/mlflow.db"
    code = (
        "import mlflow; c = mlflow.MlflowClient(); "
        "print(*[v.version for v in c.search_model_versions(\"name='rolecall-sample'\")])"
    )
    return clone.python(code, MLFLOW_TRACKING_URI=address).split()


def success(clone: Clone, folder: str, test: str) -> dict[str, dict[str, str]]:
    """Return the rows of success@1 over all queries of a test, by system."""
    table = clone.root / "data" / folder / "table.csv"
    with table.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["slice"] == "all"]
    return {
        row["system"]: row
        for row in rows
        if row["test"] == test and row["metric"] == "success_at_1"
    }


def assert_better(row: dict[str, str], other: dict[str, str], by: float) -> None:
    """Demand a difference, and intervals apart."""
    assert float(row["value"]) - float(other["value"]) >= by
    assert float(row["low"]) > float(other["high"])
    assert int(row["n"]) >= 100


@pytest.mark.parametrize("test", ["heldout_alias", "annotations"])
def test_training_is_worth_010(fresh: tuple[Clone, str], test: str) -> None:
    """Compare the default mix with the network at step 0, which matches n-grams at random weight.

    It answers every second annotation correctly already; a recurrent one none.
    """
    values = success(fresh[0], f"evaluate/{MIX}/{SEED}", test)
    assert_better(values[MIX], values["untrained"], 0.1)


@pytest.mark.parametrize("system", ["ngram", "tfidf"])
def test_it_knows_names_that_do_not_look_alike(fresh: tuple[Clone, str], system: str) -> None:
    """Compare the default mix, on aliases held out of training, with what learns nothing."""
    clone, _ = fresh
    values = success(clone, f"evaluate/{MIX}/{SEED}", "heldout_alias")
    assert_better(values[MIX], success(clone, "lexical", "heldout_alias")[system], 0.1)
