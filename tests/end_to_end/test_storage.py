"""DVC as its users know it: push and pull, metrics of two commits, experiments.

`--with-deps report`, because here the other stages of `table3` have never run: without it DVC pulls
and checks out all that it can, and then fails for the rest.
"""

from __future__ import annotations

import csv
import io
import json

import pytest
from clones import MIX, MODEL, Clone, fresh_clone

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def working(small: Clone, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """Make a finished pipeline to go on from; its remote is the folder of `.dvc/config`."""
    return small.copied(tmp_path_factory.mktemp("storage"))


def test_push_clone_pull(small: Clone, working: Clone) -> None:
    """Run nothing in the second clone: all of it comes from the remote beside the two."""
    working.dvc("push")
    remote = working.root.parent / "rolecall-storage"
    assert any(file.is_file() for file in remote.rglob("*"))
    assert working.is_up_to_date()

    parent = working.root.parent / "below"
    second = fresh_clone(parent, working.home, source=working.root)
    assert second.files() == {}
    remote.rename(parent / "rolecall-storage")
    second.dvc("pull", "--with-deps", "report")
    assert second.files() == small.files()
    assert second.is_up_to_date()
    assert second.changed() == ""
    assert "Running stage" not in second.dvc("repro", "report")


def test_metrics_of_two_commits(working: Clone) -> None:
    """Take another seed: other pairs and another network, so other values."""
    working.set_params({"seed": 2})
    working.dvc("repro", "report")
    metrics = json.loads(working.dvc("metrics", "diff", "--json").splitlines()[-1])
    values = metrics["data/report/metrics.json"]
    assert "heldout_alias" in values
    assert all(value["old"] != value["new"] for value in values.values())
    params = json.loads(working.dvc("params", "diff", "--json").splitlines()[-1])
    assert params == {"params.yaml": {"seed": {"old": 1, "new": 2, "diff": 1}}}
    working.git("checkout", "--quiet", "--", ".")
    working.dvc("checkout", "--with-deps", "report")
    assert working.is_up_to_date()


def test_an_experiment(working: Clone) -> None:
    """Follow the README's `dvc exp run -S 'seeds=[2]'`: what the seed decides runs, and stays."""
    before = working.git("branch", "--verbose")
    printed = working.dvc("exp", "run", "--name", "second-seed", "-S", "seeds=[2]", "report")
    for stage in ("train@3-2", "score", f"train@{MIX}-2"):
        assert f"Running stage '{stage}'" in printed
    assert "Stage 'pairs@3' didn't change, skipping" in printed
    assert MODEL not in printed
    assert "second-seed" in working.dvc("exp", "list")
    rows = list(csv.DictReader(io.StringIO(working.dvc("exp", "show", "--csv"))))
    seeds = {row["Experiment"]: row["seeds"] for row in rows if row["Experiment"]}
    assert json.loads(seeds["second-seed"]) == [2]
    assert working.git("branch", "--verbose") == before
