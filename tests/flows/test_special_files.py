"""A pipe among people's files: every command that would let DVC open it ends with its name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.failure import Failure
from flows.stages.dvc_plan import plan_and_skipped, reasons
from flows.stages.dvc_stages import repro
from flows.stages.special_files import require_regular_files

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    params = "mix: a\nfeedback: {folder: feedback}\ningest: {folder: data/external}\n"
    (tmp_path / "params.yaml").write_text(params)
    (tmp_path / "feedback").mkdir()
    (tmp_path / "data/external").mkdir(parents=True)
    (tmp_path / "feedback/good.csv").write_text("raw_title\n")
    return tmp_path


def test_regular_files_and_links_of_dvc_are_fine(root: Path) -> None:
    (root / "data/external/cached.csv").symlink_to("/etc/passwd")
    require_regular_files(root)


def test_all_others_are_named_up_to_ten(root: Path) -> None:
    (root / "feedback/a.csv").symlink_to("/etc/passwd")
    (root / "feedback/b.csv").symlink_to("/dev/zero")
    os.mkfifo(root / "data/external/pipe")
    for number in range(20):
        os.mkfifo(root / f"feedback/{number:02}")
    with pytest.raises(Failure) as error:
        require_regular_files(root)
    lines = str(error.value).splitlines()
    assert lines[0] == f"{root}/feedback/00 is a pipe"
    assert lines[-2:] == ["and 13 more", "take them out, or put the file itself there"]
    assert len(lines) == 12


@pytest.mark.slow
def test_no_command_hangs(toy: Path) -> None:
    """A pipe in the folder that the toy's first stage depends on."""
    os.mkfifo(toy / "data/sample/pipe.csv")
    with pytest.raises(Failure, match=r"pipe\.csv is a pipe"):
        plan_and_skipped(toy, "report")
    with pytest.raises(Failure, match=r"pipe\.csv is a pipe"):
        reasons(toy, "report")
    with pytest.raises(Failure, match=r"pipe\.csv is a pipe"), repro(toy, ["ingest"]):
        pass
    command = [sys.executable, "-m", "flows.cli", "apply-feedback"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=toy, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.count("pipe.csv is a pipe")) == (1, 1)
