"""One's own taxonomy: from two files and one command to a consumer's first answer."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
from clones import ROOT, Clone

pytestmark = pytest.mark.slow
CONSUMER = """
import json, sys, mlflow, pandas
model = mlflow.pyfunc.load_model(sys.argv[1])
titles = ["Night porter (m/f/d), start now", "dishwashr evenings", "???"]
answers = model.predict(pandas.DataFrame({"raw_title": titles}))
print(json.dumps(answers[["occupation_id", "occupation_label", "reason"]].values.tolist()))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the example's files out of the repository, one as a Latin-1 spreadsheet writes it."""
    folder = tmp_path_factory.mktemp("my own files")
    example = ROOT / "examples/own_taxonomy"
    text = (example / "titles.csv").read_text(encoding="utf-8")
    (folder / "titles.csv").write_bytes(text.encode("cp1252"))
    shutil.copy(example / "raw.csv", folder / "raw titles.csv")
    return folder


@pytest.fixture(scope="module")
def main(retrained: tuple[Clone, str], tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """Make the main tree, its own pipeline finished and committed."""
    clone = retrained[0].copied(tmp_path_factory.mktemp("main tree"))
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message=dvc.lock")
    return clone


@pytest.fixture(scope="module")
def proposed(main: Clone, files: Path) -> str:
    """One path is absolute, one relative to where the command is called."""
    inputs = Path("..", "..", files.name, "raw titles.csv")
    options = ("mine", "--taxonomy", str(files / "titles.csv"), "--inputs", str(inputs))
    return main.rolecall("init", *options)


@pytest.fixture(scope="module")
def printed(main: Clone, proposed: str) -> str:
    """Run it without ROLECALL_DATA."""
    return main.rolecall("retrain", "--profile", "mine")


def test_it_prints_its_findings(main: Clone, proposed: str, files: Path) -> None:
    assert f"{files}/titles.csv (Windows-1252 (Latin-1), semicolons between fields)" in proposed
    assert re.search(r"title +'Also called'", proposed)
    assert "20 occupations, 107 titles" in proposed
    assert "50 inputs, 46 labelled" in proposed
    assert main.changed() == "?? profiles/mine.yaml\n"


def test_every_stage_runs_and_the_main_tree_is_as_it_was(
    main: Clone, printed: str, retrained: tuple[Clone, str]
) -> None:
    """Its registry takes the version; the workspace has a cache in common with it, and no more."""
    assert "titles.csv: Windows-1252 (Latin-1), semicolons between fields" in printed
    assert re.search(r"^stages .*evaluate@corrections-1 ran, report ran$", printed, re.MULTILINE)
    assert re.search(r"^model +rolecall-mine version 1", printed, re.MULTILINE)
    workspace = Clone(main.root / ".workspaces/mine", main.home)
    assert f"report  {workspace.root}/data/gate/report.html" in printed
    assert main.changed() == "?? profiles/mine.yaml\n"
    assert main.lock == retrained[0].lock != workspace.lock
    assert main.files() == retrained[0].files()
    assert main.git("rev-parse", "HEAD~1") == retrained[0].git("rev-parse", "HEAD")
    assert main.git("branch", "--list") == retrained[0].git("branch", "--list")
    assert main.is_up_to_date()
    assert not (workspace.root / ".mlflow").exists()
    assert not (workspace.root / ".dvc/cache").exists()
    for name in ("data/ingest/aliases.parquet", "data/report/report.html"):
        content = (workspace.root / name).read_bytes()
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        cached = main.root / ".dvc/cache/files/md5" / digest[:2] / digest[2:]
        assert cached.read_bytes() == content


def test_a_consumer_gets_an_answer(
    main: Clone, printed: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Load it where no file of the repository is: a first version is champion."""
    address = main.rolecall("models", "--address").strip()
    elsewhere = Clone(tmp_path_factory.mktemp("consumer"), main.home)
    printed = elsewhere.python(
        CONSUMER, "models:/rolecall-mine@champion", MLFLOW_TRACKING_URI=address
    )
    assert json.loads(printed.splitlines()[-1]) == [
        ["FO-20", "night auditor", "uncalibrated"],
        ["KI-40", "kitchen porter", "uncalibrated"],
        [None, None, "no letters"],
    ]


def test_normalize_needs_only_the_profile(main: Clone, printed: str, files: Path) -> None:
    """Its model answers the column that the profile names, which no table is known to have."""
    command = ("normalize", str(files / "raw titles.csv"), str(main.root / "answers.csv"))
    done = main.rolecall(*command, "--profile", "mine")
    assert "models:/rolecall-mine/1" in done
    answers = (main.root / "answers.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(answers) == 51
    assert answers[0].startswith(("received,", '"received"'))


def test_feedback_is_taken(main: Clone, printed: str) -> None:
    """Two verdicts of a person and a bad row, in the profile's folder; then the next version."""
    before = main.changed()
    (main.root / "feedback/mine/monday.csv").write_text(
        "raw_title,predicted_occupation_id,matched_title,verdict,corrected_occupation_id\n"
        "night manager wanted,FO-20,night auditor,correct,\n"
        "person for the pots and pans,FO-20,night auditor,incorrect,KI-40\n"
        "night manager wanted,no such,night auditor,correct,\n",
        encoding="utf-8",
    )
    second = main.rolecall("apply-feedback", "--profile", "mine")
    assert re.search(r"monday\.csv: 3 rows, 1 refused \(1 × unknown occupation\)", second)
    assert "rolecall-mine version 2" in second
    page = (main.root / ".workspaces/mine/data/gate/report.html").read_text(encoding="utf-8")
    assert "rolecall-mine" in page
    assert main.changed() == before
