"""A profile's feedback: copied as it lies in the main tree, and nothing else beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.workspaces.feedback_folder import copy_feedback, feedback_folder, is_copied, profile_of
from flows.workspaces.profiles import ProfileError

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


def copied(main: Path, workspace: Path) -> tuple[dict[str, str], list[str]]:
    """Return what the workspace holds after a copy, and the warnings."""
    lines: list[str] = []
    copy_feedback(main, workspace, DEFAULT, lines.append)
    files = sorted((workspace / "feedback").iterdir())
    return {path.name: path.read_text() for path in files}, lines


def test_the_folder_is_made_and_followed(tmp_path: Path, workspace: Path) -> None:
    assert copied(tmp_path, workspace) == ({"README.md": "of git"}, [])
    folder = tmp_path / "feedback/mine"
    assert folder.is_dir()
    (folder / "monday.csv").write_text("one")
    (folder / "README.md").write_text("mine")
    (folder / ".DS_Store").write_text("")
    assert copied(tmp_path, workspace)[0] == {"README.md": "of git", "monday.csv": "one"}
    assert is_copied(workspace)
    (folder / "monday.csv").write_text("two")
    assert not is_copied(workspace)
    assert copied(tmp_path, workspace)[0] == {"README.md": "of git", "monday.csv": "two"}
    (folder / "monday.csv").rename(folder / "tuesday.csv")
    assert copied(tmp_path, workspace)[0] == {"README.md": "of git", "tuesday.csv": "two"}
    (folder / "tuesday.csv").unlink()
    assert not is_copied(workspace)
    assert is_copied(tmp_path)


def test_an_unchanged_file_is_not_written_again(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "feedback/mine").mkdir(parents=True)
    (tmp_path / "feedback/mine/monday.csv").write_text("one")
    copied(tmp_path, workspace)
    before = (workspace / "feedback/monday.csv").stat()
    copied(tmp_path, workspace)
    assert (workspace / "feedback/monday.csv").stat() == before


def test_pipes_folders_and_links_that_lead_out_are_named_and_left_out(
    tmp_path: Path, workspace: Path
) -> None:
    """Open none of them: a pipe would wait for ever."""
    folder = tmp_path / "feedback/mine"
    (folder / "january").mkdir(parents=True)
    os.mkfifo(folder / "pipe.csv")
    (tmp_path / "secret").write_text("secret")
    (folder / "link.csv").symlink_to(tmp_path / "secret")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "good.csv").write_text("good")
    (folder / "same.csv").symlink_to("good.csv")
    files, lines = copied(tmp_path, workspace)
    assert files == {"README.md": "of git", "good.csv": "good", "same.csv": "good"}
    assert [line.removeprefix(f"warning: {folder}/") for line in lines] == [
        "january is a folder: not read",
        f"link.csv is a link that leads out of {folder}: not read",
        "pipe.csv is a pipe: not read",
        f"zero.csv is a link that leads out of {folder}: not read",
    ]


def test_a_file_in_the_place_of_the_folder(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "feedback").mkdir()
    (tmp_path / "feedback/mine").touch()
    with pytest.raises(ProfileError, match="feedback/mine is no folder"):
        copied(tmp_path, workspace)


def test_a_folder_below_is_refused_with_the_line_to_remove(tmp_path: Path, workspace: Path) -> None:
    """Profiles named it so, with files in git, before each had a folder of its own."""
    params = {"feedback": {"folder": "feedback/mine"}}
    with pytest.raises(ProfileError, match="feedback/mine: remove this line"):
        copy_feedback(tmp_path, workspace, params, print)


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


def test_the_profile_of_a_tree(tmp_path: Path, workspace: Path) -> None:
    assert (profile_of(workspace), profile_of(tmp_path)) == ("mine", "")
