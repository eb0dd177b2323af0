"""A profile's feedback: copied as it lies in the main tree, and the facts of applying it."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.feedback import apply_feedback, copy_feedback, facts, feedback_folder, is_copied
from flows.profiles import ProfileError
from tasks.release.registry.outcomes import Patched, Promotion, RegisteredVersion

DEFAULT: dict[str, Any] = {"feedback": {"folder": "feedback"}}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Make a workspace whose checkout brought the sample's feedback along."""
    folder = tmp_path / ".workspaces/mine"
    (folder / "feedback/other").mkdir(parents=True)
    (folder / "feedback/README.md").write_text("of git")
    (folder / "feedback/of_the_sample.csv").write_text("raw_title\n")
    write_params(folder, DEFAULT)
    return folder


def write_params(root: Path, params: dict[str, Any]) -> None:
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def copied(workspace: Path) -> tuple[dict[str, str], list[str]]:
    """Return what the workspace holds after a copy, and the warnings."""
    lines: list[str] = []
    copy_feedback(workspace, DEFAULT, lines.append)
    files = sorted((workspace / "feedback").iterdir())
    return {path.name: path.read_text() for path in files}, lines


def test_the_folder_is_made_and_followed(tmp_path: Path, workspace: Path) -> None:
    assert copied(workspace) == ({"README.md": "of git"}, [])
    folder = tmp_path / "feedback/mine"
    assert folder.is_dir()
    (folder / "monday.csv").write_text("one")
    (folder / "README.md").write_text("mine")
    (folder / ".DS_Store").write_text("")
    assert copied(workspace)[0] == {"README.md": "of git", "monday.csv": "one"}
    assert is_copied(workspace)
    before = (workspace / "feedback/monday.csv").stat()
    copied(workspace)
    assert (workspace / "feedback/monday.csv").stat() == before, "it is not written again"
    (folder / "monday.csv").write_text("two")
    assert not is_copied(workspace)
    assert copied(workspace)[0] == {"README.md": "of git", "monday.csv": "two"}
    (folder / "monday.csv").rename(folder / "tuesday.csv")
    assert copied(workspace)[0] == {"README.md": "of git", "tuesday.csv": "two"}
    (folder / "tuesday.csv").unlink()
    assert not is_copied(workspace)
    assert is_copied(tmp_path)


def test_pipes_folders_and_links_that_lead_out_are_named_and_left_out(tmp_path, workspace) -> None:
    """Open none of them: a pipe would wait for ever."""
    folder = tmp_path / "feedback/mine"
    (folder / "january").mkdir(parents=True)
    os.mkfifo(folder / "pipe.csv")
    (tmp_path / "secret").write_text("secret")
    (folder / "link.csv").symlink_to(tmp_path / "secret")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "good.csv").write_text("good")
    (folder / "same.csv").symlink_to("good.csv")
    files, lines = copied(workspace)
    assert files == {"README.md": "of git", "good.csv": "good", "same.csv": "good"}
    assert [line.removeprefix(f"warning: {folder}/") for line in lines] == [
        "january is a folder: not read",
        f"link.csv is a link that leads out of {folder}: not read",
        "pipe.csv is a pipe: not read",
        f"zero.csv is a link that leads out of {folder}: not read",
    ]


def test_a_file_or_a_folder_below_is_refused_with_what_to_do(tmp_path, workspace: Path) -> None:
    """Profiles named a folder below, with files in git, before each had one of its own."""
    params = {"feedback": {"folder": "feedback/mine"}}
    with pytest.raises(ProfileError, match="feedback/mine: remove this line"):
        copy_feedback(workspace, params, print)
    (tmp_path / "feedback").mkdir()
    (tmp_path / "feedback/mine").touch()
    with pytest.raises(ProfileError, match="feedback/mine is no folder"):
        copied(workspace)


def test_the_folder_that_people_are_told(tmp_path: Path, workspace: Path) -> None:
    """Name the main tree's, or the source of an imported one, never a copy."""
    write_params(tmp_path, DEFAULT)
    assert feedback_folder(tmp_path) == str(tmp_path / "feedback")
    assert feedback_folder(workspace) == str(tmp_path / "feedback/mine")
    write_params(workspace, {"feedback": {"folder": "data/external/reviewed"}})
    (workspace / "data").mkdir()
    imported = {"deps": [{"path": "s3://ours/reviewed"}]}
    (workspace / "data/reviewed.dvc").write_text(yaml.safe_dump(imported))
    assert feedback_folder(workspace) == "s3://ours/reviewed"


LABELS = "data/simulate_feedback/feedback.csv"
COUNTS = {
    "rows_read": {"feedback/a.csv": 1200, "feedback/b.csv": 30, LABELS: 34},
    "rejected": {"feedback/a.csv": {"empty raw_title": 2, "unknown occupation": 3}},
    **{"overrides": 1100, "not_job_titles": 7, "rejected_answers": 2, "conflicts": 4},
}
NOTHING = COUNTS | {"rows_read": {LABELS: 34}, "rejected": {}}
VERSION = RegisteredVersion("toy", "3", "challenger", False)
OTHER = RegisteredVersion("toy", "4", "champion", False)
NEITHER = Patched(None, None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a tree of parameters with three files of feedback, of which two can be."""
    write_params(tmp_path, DEFAULT)
    (tmp_path / "feedback").mkdir()
    for name in ("a.csv", "b.csv", "README.md"):
        (tmp_path / "feedback" / name).touch()
    return tmp_path


PROMOTED = (VERSION, Promotion(True, "as requested", ""))
REFUSED = (VERSION, Promotion(False, "as requested", ""))
CHALLENGER = (OTHER, Promotion(True, "better on people's verdicts", ""))


@pytest.mark.parametrize(
    ("done", "model"),
    [
        (NEITHER, {"model": "the champion has all of this feedback already"}),
        (Patched(PROMOTED, None), {"model": "toy version 3", "gate": "champion: as requested"}),
        (
            Patched(REFUSED, CHALLENGER),
            {"model": "toy version 3", "gate": "not promoted: as requested"}
            | {"challenger": "toy version 4", "verdicts": "champion: better on people's verdicts"},
        ),
    ],
)
def test_facts(root: Path, done: Patched, model: dict[str, str]) -> None:
    assert facts(COUNTS, done, root) == {
        "files": f"2 in {root / 'feedback'}",
        "rows": "1,230 read, 5 refused",
        "titles": "1,100 overrides, 7 not job titles, 2 answers not given again",
        **{"conflict": "4", **model},
    }


def test_without_a_file_that_is_read_it_names_folder_and_others(root, workspace) -> None:
    """Do not say of rows that nobody read that the champion has them."""
    for name in ("a.csv", "b.csv"):
        (root / "feedback" / name).unlink()
    outcome = facts(NOTHING, NEITHER, root)
    assert (outcome["files"], outcome["rows"]) == (f"0 in {root}/feedback", "0 read, 0 refused")
    assert outcome["model"] == f"unchanged: no file of feedback in {root}/feedback"
    (root / "feedback/notes.odt").touch()
    (root / "feedback/.hidden").touch()
    assert facts(COUNTS, NEITHER, root)["skipped"] == "notes.odt: of a kind that is not read"
    assert facts(NOTHING, NEITHER, workspace)["files"] == f"0 in {root}/feedback/mine"


def test_without_a_model_the_files_wait(tmp_path: Path) -> None:
    assert apply_feedback(tmp_path) == {
        "model": f"none yet in {tmp_path}: `rolecall retrain --profile sample` also learns "
        "from the files"
    }
    workspace = tmp_path / ".workspaces/mine"
    assert "`rolecall retrain --profile mine` also" in apply_feedback(workspace)["model"]
