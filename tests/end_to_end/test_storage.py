"""DVC as its users know it: push and pull, metrics of two commits, experiments.

`--with-deps report`, because here the other stages of `table3` have never run: without it DVC warns
of what it cannot push, and pulls and checks out all that it can, and then fails for the rest.
"""

from __future__ import annotations

import csv
import io
import json

import pytest
from clones import IN_GIT, MIX, MODEL, Clone, fresh_clone

pytestmark = pytest.mark.slow
TESTS = {"typos", "composition", "extra_words", "annotations", "heldout_alias"}


@pytest.fixture(scope="module")
def working(small: Clone, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """Make a finished pipeline to go on from; its remote is the folder of `.dvc/config`."""
    return small.copied(tmp_path_factory.mktemp("storage"))


def test_push_clone_pull(small: Clone, working: Clone) -> None:
    """Run nothing in the second clone: all of it comes from the remote beside the two."""
    assert "WARNING" not in working.dvc("push", "--with-deps", "report")
    remote = working.root.parent / "rolecall-storage"
    assert any(file.is_file() for file in remote.rglob("*"))
    assert working.is_up_to_date()

    parent = working.root.parent / "below"
    second = fresh_clone(parent, working.home, source=working.root)
    assert second.files().keys() <= IN_GIT
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
    said = working.dvc("metrics", "diff", "--json")
    assert "failed to load" not in said
    metrics = json.loads(said.splitlines()[-1])
    values = metrics["data/report/metrics.json"]
    assert values.keys() & TESTS
    assert all(value["old"] != value["new"] for value in values.values())
    params = json.loads(working.dvc("params", "diff", "--json").splitlines()[-1])
    assert params == {"params.yaml": {"seed": {"old": 1, "new": 2, "diff": 1}}}
    working.git("checkout", "--quiet", "--", ".")
    working.dvc("checkout", "--with-deps", "report")
    assert working.is_up_to_date()


def test_an_experiment(working: Clone) -> None:
    """Follow the README's `dvc exp run --temp`: what the seed decides runs; the tree stays."""
    before = working.git("branch", "--verbose"), working.files(), working.changed()
    printed = working.dvc("exp", "run", "--temp", "--name", "second", "-S", "seeds=[2]", "report")
    for stage in ("train@3-2", "score", f"train@{MIX}-2"):
        assert f"Running stage '{stage}'" in printed
    assert "Stage 'pairs@3' didn't change, skipping" in printed
    assert MODEL not in printed
    assert (working.git("branch", "--verbose"), working.files(), working.changed()) == before
    assert "second" in working.dvc("exp", "list")
    show = ("exp", "show", "--csv", "--only-changed", "--drop", "Created|.*/.*")
    said = working.dvc(*show)
    assert "failed to load" not in said
    rows = {row["Experiment"]: row for row in csv.DictReader(io.StringIO(said))}
    assert json.loads(rows["second"]["seeds"]) == [2]
    assert rows["second"].keys() & TESTS  # those that the seed changed
