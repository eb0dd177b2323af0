"""The Makefile in a folder that was moved, and in one that is no clone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "O'Brien über"
    place.mkdir()
    shutil.copy(ROOT / "Makefile", place)
    return place


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)}
    command = ["make", "--no-print-directory", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("options", ["", "--clear ", "--clear --upgrade-deps "])
def test_an_environment_is_made_again_only_where_it_was_moved(folder: Path, options: str) -> None:
    environment = folder / ".venv"
    environment.mkdir()
    for made_in, moved in ((environment, False), (folder.parent / "clone/.venv", True)):
        line = f"command = /usr/bin/python3 -m venv {options}{made_in}\n"
        (environment / "pyvenv.cfg").write_text(f"home = /usr/bin\n{line}")
        done = make(folder, "help")
        assert done.returncode == 0 and "make retrain" in done.stdout
        assert ("the clone was moved" in done.stdout) == moved
        assert environment.exists() != moved


@pytest.mark.parametrize("target", ["retrain", "reproduce"])
def test_a_zip_files_folder_is_refused_before_anything_is_installed(
    folder: Path, target: str
) -> None:
    (folder / "pyproject.toml").touch()
    (folder / "constraints.txt").touch()
    done = make(folder, target, "PYTHON=false")
    assert done.returncode == 2
    assert "git init --quiet && git add ." in done.stderr
    assert not (folder / ".venv").exists()


def test_an_audit_without_a_network_blames_no_package(folder: Path) -> None:
    done = make(folder, "audit", "PYTHON=false")
    assert done.returncode == 2
    assert "if none is, pip-audit could not be installed or pypi.org gave no" in done.stdout
