"""Where the registry is."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from tasks.io.tracking import main_tree, registry, tracking_uri


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit and a worktree `.workspaces/esco`."""
    tree = tmp_path / "tree with space"
    tree.mkdir()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.hooksPath=/dev/null"]
    for command in (
        ["init", "--quiet"],
        ["commit", "--quiet", "--allow-empty", "-m", "one"],
        ["worktree", "add", "--quiet", ".workspaces/esco"],
    ):
        subprocess.run([*git, *command], cwd=tree, check=True, capture_output=True)
    return tree.resolve()


def test_a_worktree_shares_the_main_trees_registry(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    expected = f"sqlite:///{repository}/.mlflow/mlflow.db"
    assert tracking_uri(repository) == expected
    assert tracking_uri(repository / ".workspaces" / "esco") == expected
    assert not (repository / ".mlflow").exists()  # asking makes nothing


def test_without_git_it_is_the_folder_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main_tree(tmp_path) == tmp_path.resolve()
    monkeypatch.setenv("PATH", "")  # no git at all
    assert main_tree(tmp_path) == tmp_path.resolve()


def test_the_variable_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:////elsewhere.db")
    assert tracking_uri(tmp_path) == "sqlite:////elsewhere.db"


def test_a_server_that_is_down_is_no_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:secret@127.0.0.1:{port}")
    with pytest.raises(ValueError, match=rf"http://\*\*\*@127.0.0.1:{port} "), registry(tmp_path):
        pass
