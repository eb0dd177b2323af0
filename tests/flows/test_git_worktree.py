"""A workspace gets the commits and the uncommitted changes, and is found after a move."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from flows.failure import Failure
from flows.workspaces.git_worktree import (
    check_out,
    copy_changes,
    follow_move,
    refuse_new_code,
    require_repository,
)
from flows.workspaces.profiles import ProfileError
from flows.workspaces.workspace import workspace_of

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *IDENTITY, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository at a path with an apostrophe, a blank and a letter beyond ASCII."""
    tree = tmp_path / "O'Brien über" / "clone"
    for name in ("models/code.py", "tasks/code.py", "gone.txt", "dvc.lock", ".gitignore"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("committed\n")
    (tree / ".gitignore").write_text(".workspaces/\n")
    git(tree, "init", "--quiet")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message=one")
    return tree


def checked_out(main: Path) -> tuple[Path, list[str]]:
    workspace = main / ".workspaces" / "mine"
    check_out(main, workspace)
    return workspace, copy_changes(main, workspace)


def test_uncommitted_changes_count_until_they_are_taken_back(main: Path) -> None:
    """Changed, removed and added files; a lock stays out, and the main tree stays as it is."""
    (main / "models/code.py").write_text("changed\n")
    (main / "gone.txt").unlink()
    (main / "models/näw.py").write_text("new\n")
    git(main, "add", "models/näw.py")
    (main / "dvc.lock").write_text("a run's\n")
    before = git(main, "status", "--porcelain")
    workspace, changed = checked_out(main)
    assert changed == ["gone.txt", "models/code.py", "models/näw.py"]
    assert (workspace / "models/code.py").read_text() == "changed\n"
    assert (workspace / "models/näw.py").read_text() == "new\n"
    assert not (workspace / "gone.txt").exists() and not (workspace / "dvc.lock").exists()
    assert git(main, "status", "--porcelain") == before and git(main, "stash", "list") == ""
    assert "models/code.py" in git(workspace, "diff", "--name-only", "HEAD")  # for provenance

    git(main, "reset", "--quiet", "--hard")
    assert checked_out(main) == (workspace, [])
    assert (workspace / "models/code.py").read_text() == "committed\n"
    assert (workspace / "gone.txt").exists() and not (workspace / "models/näw.py").exists()


def test_code_that_git_does_not_know_is_refused(main: Path) -> None:
    (main / "notes.py").touch()  # no stage's
    refuse_new_code(main)
    for name in "abcde":
        (main / f"models/losses/{name}.py").parent.mkdir(exist_ok=True)
        (main / f"models/losses/{name}.py").touch()
    message = r"models/losses/a\.py, .*b\.py, .*c\.py and 2 more.*`git add`"
    with pytest.raises(ProfileError, match=message):
        refuse_new_code(main)
    git(main, "add", "models")
    refuse_new_code(main)


@pytest.mark.parametrize("copied", [False, True])
def test_a_workspace_moves_with_its_clone(main: Path, copied: bool) -> None:
    """A copy has a workspace of its own, and leaves the original's alone."""
    checked_out(main)
    there = main.with_name("there")
    shutil.copytree(main, there, symlinks=True) if copied else main.rename(there)
    workspace = there / ".workspaces" / "mine"
    assert follow_move(there, workspace)
    assert not follow_move(there, workspace)
    assert git(workspace, "rev-parse", "--show-toplevel") == str(workspace)
    common = git(workspace, "rev-parse", "--path-format=absolute", "--git-common-dir")
    assert common == str(there / ".git")
    assert checked_out(there) == (workspace, [])
    if copied:
        assert not follow_move(main, main / ".workspaces" / "mine")
        assert checked_out(main) == (main / ".workspaces" / "mine", [])
    assert not follow_move(there, there / ".workspaces" / "none")


@pytest.mark.parametrize("name", ["n" * 300, "../other", "a/b"])
def test_no_workspace_has_a_name_that_no_folder_has(main: Path, name: str) -> None:
    with pytest.raises(Failure, match=r"no profile '.{0,80}': up to 80"):
        workspace_of(main, name)


def test_a_zip_files_folder_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Failure, match=r"(?s)not a git repository.*`git clone`.*git init"):
        require_repository(tmp_path)
    git(tmp_path, "init", "--quiet")
    with pytest.raises(Failure, match="no commit yet"):
        require_repository(tmp_path)
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message=one")
    assert require_repository(tmp_path) == tmp_path.resolve()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Failure, match="git is not installed"):
        require_repository(tmp_path)
