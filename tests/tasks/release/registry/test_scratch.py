"""Scratch folders: gone at the end and after a kill, and never taken from who works in one."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tasks.release.registry.scratch import FOLDER, scratch_folder, temporary_files_in

HOLD = """
import sys
from pathlib import Path
from tasks.release.registry.scratch import scratch_folder
with scratch_folder(Path.cwd()) as folder:
    (folder / "model").write_text("a copy")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return tmp_path


def folders(root: Path) -> list[Path]:
    return [*(root / ".mlflow" / FOLDER).glob("*/")]


def test_a_folder_goes_at_the_end_of_a_block_and_after_an_error(root: Path) -> None:
    with scratch_folder(root) as one, scratch_folder(root) as two:
        (one / "model").write_text("a copy")
        assert sorted(folders(root)) == sorted([one, two])
    with pytest.raises(KeyboardInterrupt), scratch_folder(root):
        raise KeyboardInterrupt
    assert folders(root) == []


@pytest.mark.thorough
def test_the_next_run_removes_what_a_kill_left_and_no_more(root: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        held = Path(other.stdout.readline().decode().strip())
        with scratch_folder(root):
            assert (held / "model").read_text() == "a copy"
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert folders(root) == [held]
    with scratch_folder(root) as mine:
        assert folders(root) == [mine]


def test_temporary_files_lie_in_a_folder_for_a_while(tmp_path: Path) -> None:
    before = tempfile.gettempdir()
    with temporary_files_in(tmp_path):
        assert Path(tempfile.mkdtemp()).parent == tmp_path
    assert tempfile.gettempdir() == before
