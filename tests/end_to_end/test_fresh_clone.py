"""`rolecall retrain` in a fresh clone, on the embedded sample, at full size."""

import csv
import re
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
    return clone, clone.rolecall("retrain", **OTHER)


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
    """Compare all but what training has made: another kind of processor gives other weights."""
    clone, _ = fresh
    assert clone.is_up_to_date()
    assert clone.changed() in ("", " M dvc.lock\n")
    committed = yaml.safe_load(clone.git("show", "HEAD:dvc.lock"))["stages"]
    for name, stage in yaml.safe_load(clone.lock)["stages"].items():
        assert without_trained(stage) == without_trained(committed[name]), name


def without_trained(stage: dict[str, Any]) -> dict[str, Any]:
    """Return a stage of a lock; of files that depend on trained weights the name alone."""

    def named(file: dict[str, Any]) -> object:
        return file["path"] if TRAINED.match(file["path"]) else file

    return stage | {kind: [*map(named, stage.get(kind, []))] for kind in ("deps", "outs")}


def test_a_second_run_skips_all(fresh: tuple[Clone, str]) -> None:
    """Say that there is nothing to do, without torch, Matplotlib or functions of SciPy."""
    clone, _ = fresh
    lock = clone.lock
    second = clone.rolecall("retrain", PYTHONPROFILEIMPORTTIME="1")
    imported = {*re.findall(r"^import time:.*\| +([\w.]+)$", second, re.MULTILINE)}
    second = re.sub(r"import time:.*\n", "", second)
    assert "tasks.release.registry.promote" in imported
    assert not imported & {"torch", "matplotlib", "scipy.special"}
    assert clone.lock == lock
    assert second.splitlines()[-1] == "to do   nothing"
    assert "rolecall-sample version 1" in second
    assert "(registered before)" in second
    assert versions(clone) == ["1"]


def versions(clone: Clone) -> list[str]:
    """List the versions of the registered model, at the address that the documentation names."""
    address = clone.rolecall("models", "--address").strip()
    assert address == f"sqlite:///{clone.root}/.mlflow/mlflow.db"
    code = (
        "import mlflow; c = mlflow.MlflowClient(); "
        "print(*[v.version for v in c.search_model_versions(\"name='rolecall-sample'\")])"
    )
    return clone.python(code, MLFLOW_TRACKING_URI=address).split()


def success(clone: Clone, folder: str, test: str) -> dict[str, dict[str, str]]:
    """Return the rows of success@1 over all queries of a test, by system."""
    with (clone.root / f"data/{folder}/table.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["slice"] == "all"]
    chosen = [row for row in rows if (row["test"], row["metric"]) == (test, "success_at_1")]
    return {row["system"]: row for row in chosen}


@pytest.mark.parametrize(
    ("test", "system", "folder"),
    [
        ("heldout_alias", "untrained", f"evaluate/{MIX}/{SEED}"),
        ("annotations", "untrained", f"evaluate/{MIX}/{SEED}"),
        ("heldout_alias", "ngram", "lexical"),
        ("heldout_alias", "tfidf", "lexical"),
    ],
)
def test_training_is_worth_010(
    fresh: tuple[Clone, str], test: str, system: str, folder: str
) -> None:
    """Intervals apart, compared with the network at step 0 and, on new aliases, n-grams.

    At step 0 it matches n-grams at random weight, and has every second annotation right already.
    """
    ours = success(fresh[0], f"evaluate/{MIX}/{SEED}", test)[MIX]
    theirs = success(fresh[0], folder, test)[system]
    assert float(ours["value"]) - float(theirs["value"]) >= 0.1
    assert float(ours["low"]) > float(theirs["high"])
    assert int(ours["n"]) >= 100
