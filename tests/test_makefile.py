"""The Makefile: a folder that was moved, one that is no clone, and files that are not as pinned."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from background import ROOT, ran


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "O'Brien über"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    return folder


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ceiling = str(folder)
    return ran(folder, "make", "--no-print-directory", *words, GIT_CEILING_DIRECTORIES=ceiling)


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
def test_a_zip_files_folder_is_refused_before_anything_is_installed(folder, target) -> None:
    (folder / "pyproject.toml").touch()
    (folder / "constraints.txt").touch()
    done = make(folder, target, "PYTHON=false")
    assert done.returncode == 2
    assert "git init --quiet && git add ." in done.stderr
    assert not (folder / ".venv").exists()


def test_every_version_has_its_hashes_but_torch() -> None:
    """Each index has other builds of torch, so pip brings it without."""
    pinned, hashed = (ROOT / "constraints.txt").read_text(), (ROOT / "hashes.txt").read_text()
    versions = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", pinned, re.MULTILINE))
    named = {re.sub("[_.]", "-", name.lower()): version for name, version in versions.items()}
    with_hashes = r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}\b"
    del named["torch"]
    assert dict(re.findall(with_hashes, hashed, re.MULTILINE)) == named


@pytest.mark.parametrize(
    ("said", "goes_on"), [("Hash mismatch for `idna==3.20`", False), ("no index answers", True)]
)
def test_pip_does_not_bring_the_file_that_uv_refused(folder, said, goes_on) -> None:
    for name in ("pyproject.toml", "constraints.txt", "hashes.txt"):
        (folder / name).touch()
    programs = folder / ".venv/bin"
    programs.mkdir(parents=True)
    for name, script in (("uv", f"echo '{said}' >&2; exit 1"), ("python", "touch went_on")):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    (folder / ".venv/installed").touch()
    done = make(folder, "tools")
    assert (done.returncode, (folder / "went_on").exists()) == (0 if goes_on else 2, goes_on)
    assert said in done.stdout


def test_an_audit_without_a_network_blames_no_package(folder: Path) -> None:
    done = make(folder, "audit", "PYTHON=false")
    assert done.returncode == 2
    assert "if none is, pip-audit could not be installed or pypi.org gave no" in done.stdout
