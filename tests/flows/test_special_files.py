"""Pipes and devices: left out of a folder that people fill, and refused among data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dvc.ignore import DvcIgnorePatterns
from hypothesis import example, given
from hypothesis import strategies as st

from flows.failure import Failure
from flows.stages.dvc_plan import plan_and_skipped, reasons
from flows.stages.dvc_stages import repro
from flows.stages.special_files import HEAD, IGNORED, keep_out_special_files, pattern

ROOT = Path(__file__).parents[2]
NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=9)
READS = """
  feedback:
    cmd: ls feedback > feedback.txt
    deps: [feedback]
    outs: [feedback.txt]
"""


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
    assert keep_out_special_files(root) == []
    assert not (root / "feedback" / IGNORED).exists()


def test_people_s_files_are_named_and_hidden_from_dvc(root: Path) -> None:
    folder = root / "feedback"
    (folder / "a b.csv").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.csv")
    assert keep_out_special_files(root) == [
        f"warning: {folder}/a b.csv is a link that leads out of {folder}: not read",
        f"warning: {folder}/pipe.csv is a pipe: not read",
    ]
    assert (folder / IGNORED).read_text() == f"{HEAD}/a[ ]b.csv\n/pipe.csv\n"
    for name in ("a b.csv", "pipe.csv"):
        (folder / name).unlink()
    assert keep_out_special_files(root) == []
    assert not (folder / IGNORED).exists()


def test_the_list_of_the_clone_is_none_of_ours(root: Path) -> None:
    (root / "params.yaml").write_text("feedback: {folder: .}\n")
    (root / IGNORED).write_text("__pycache__/\n")
    os.mkfifo(root / "pipe")
    with pytest.raises(Failure, match="pipe is a pipe"):
        keep_out_special_files(root)
    assert (root / IGNORED).read_text() == "__pycache__/\n"


def test_among_data_they_are_refused_up_to_ten(root: Path) -> None:
    for number in range(13):
        os.mkfifo(root / f"data/external/{number:02}")
    with pytest.raises(Failure) as error:
        keep_out_special_files(root)
    lines = str(error.value).splitlines()
    assert lines[0] == f"{root}/data/external/00 is a pipe"
    assert lines[-2:] == ["and 3 more", "take them out, or put the file itself there"]
    assert len(lines) == 12


@given(NAMES, NAMES)
@example("a b ", "a_b ")
@example("![a-z]*?.csv\\", "!b.csv")
@example("#1", "2")
def test_a_line_means_its_name_alone(name: str, other: str) -> None:
    line = f"/{pattern(name)}".strip()  # DVC strips what it reads
    ignored = DvcIgnorePatterns([line], "/clone/feedback", "/")
    assert ignored.matches("/clone/feedback", name)
    if name.isprintable():
        assert ignored.matches("/clone/feedback", other) == (name == other)


@pytest.mark.slow
def test_dvc_reads_the_others(toy: Path, run_in: Callable[..., str], dvc: tuple[str, ...]) -> None:
    """Also a bare `dvc repro` later on, for which the stage is up to date."""
    with (toy / "dvc.yaml").open("a") as pipeline, (toy / "params.yaml").open("a") as params:
        pipeline.write(READS)
        params.write("\nfeedback: {folder: feedback}\n")
    (toy / "feedback").mkdir()
    (toy / "feedback/good.csv").write_text("raw_title\n")
    os.mkfifo(toy / "feedback/pipe.csv")
    (toy / "feedback/zero.csv").symlink_to("/dev/zero")
    with repro(toy, ["feedback"]) as stages:
        lines = [line for _, output in stages for line in output]
    assert lines[0].endswith("pipe.csv is a pipe: not read")
    assert (toy / "feedback.txt").read_text() == "good.csv\npipe.csv\nzero.csv\n"
    assert plan_and_skipped(toy, "feedback") == (["feedback"], ["feedback"])
    assert reasons(toy, "feedback") == {"feedback": []}
    assert "didn't change" in run_in(toy, *dvc, "repro", "--single-item", "feedback")


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
