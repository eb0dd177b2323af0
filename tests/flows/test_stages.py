"""The order is DVC's, the lock is DVC's, a failure names its stage, a cancelled stage is gone."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from background import until, visited
from dvc.repo import Repo

from flows import stages as dvc_stages
from flows.dvc_plan import plan_and_skipped
from flows.stages import by_stage, outcome, push, repro, run_stage

Run = Callable[..., str]
Dvc = tuple[str, ...]
ORDER = ["ingest", "lexical", "train@typos-1", "evaluate@typos-1", "report"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Running stage 'a':", "> x", "Stage 'a' didn't change, skipping"], "ran"),
        (["warning", "Stage 'a' didn't change, skipping"], "unchanged"),
        (["'a' didn't change, skipping"], "unchanged"),
        (["Stage 'a' is cached - skipping run, checking out outputs"], "restored"),
        ([], "ran"),
    ],
)
def test_the_outcome_comes_from_dvcs_first_line(lines: list[str], expected: str) -> None:
    assert outcome("a", lines) == expected


def test_output_is_cut_where_dvc_turns_to_another_stage() -> None:
    """A stage's lines about itself or one before cut nothing; the first lines are kept."""
    lines = ["waiting", "Running stage 'a':", "> x", "'b'", "", "'b' didn't change, skipping"]
    lines += ["Running stage 'c':", "the last words"]
    pieces = [(stage, list(piece)) for stage, piece in by_stage(iter(lines), ["a", "b", "c"])]
    assert pieces == [("a", lines[:5]), ("b", lines[5:6]), ("c", lines[6:])]


@pytest.mark.slow
def test_flow_and_bare_repro_write_the_same_lock(toy, run_in, dvc, tmp_path) -> None:
    """Run; then find it unchanged, restored from the run cache, and run again after a change."""
    bare = Path(shutil.copytree(toy, tmp_path / "bare"))
    assert visited(run_in(bare, *dvc, "repro", "report")) == ORDER
    assert ran(toy, ORDER) == dict.fromkeys(ORDER, "ran")
    assert (toy / "dvc.lock").read_bytes() == (bare / "dvc.lock").read_bytes()
    assert ran(toy, ["ingest", "report"]) == {"ingest": "unchanged", "report": "unchanged"}
    assert plan_and_skipped(toy, "report") == (ORDER, ORDER)
    with Repo(str(toy)) as held, held.lock:
        assert plan_and_skipped(toy, "report") == (ORDER, [])

    (toy / "dvc.lock").unlink()
    assert plan_and_skipped(toy, "report") == (ORDER, [])
    assert ran(toy, ["ingest"]) == {"ingest": "restored"}
    titles = toy / "data" / "sample" / "titles.csv"
    titles.write_text(titles.read_text() + "miller\n")
    assert plan_and_skipped(toy, "report") == (ORDER, [])
    assert ran(toy, ["ingest"]) == {"ingest": "ran"}
    assert plan_and_skipped(toy, "report") == (ORDER, ["ingest"])


@pytest.mark.slow
@pytest.mark.parametrize("busy", ["ingest", "lexical"])
def test_a_stage_that_another_run_holds_is_waited_for(toy, dvc, busy, monkeypatch) -> None:
    """The other run is killed meanwhile; what was done before the wait is not done again."""
    monkeypatch.setattr(dvc_stages, "WAIT", 0.1)
    if busy == "lexical":
        assert ran(toy, ["ingest"]) == {"ingest": "ran"}
    (toy / "sleep.txt").write_text(busy)
    other = subprocess.Popen([*dvc, "repro", busy], cwd=toy, text=True)
    pid = stage_of(other, toy / "pid.txt")
    (toy / "sleep.txt").unlink()
    printed: list[str] = []

    def noting(line: str) -> None:
        printed.append(line)
        if line.startswith("waiting: another run uses files of ") and other.poll() is None:
            os.kill(pid, signal.SIGKILL)
            other.wait()

    with repro(toy, ["ingest", "lexical"]) as parts:
        outcomes = {stage: run_stage(stage, lines, noting) for stage, lines in parts}
    assert outcomes == {"ingest": "ran" if busy == "ingest" else "unchanged", "lexical": "ran"}
    assert any(line.startswith("waiting: another run uses") for line in printed)
    assert sum("Running stage 'lexical'" in line for line in printed) == 1
    assert plan_and_skipped(toy, "lexical")[1] == ["ingest", "lexical"]


def ran(root: Path, stages: list[str]) -> dict[str, str]:
    """Bring stages up to date, and say what DVC did with each."""
    with repro(root, stages) as parts:
        return {stage: run_stage(stage, lines, print) for stage, lines in parts}


def stage_of(flow: subprocess.Popen[str], file: Path, seconds: float = 120) -> int:
    """Return the process number that the sleeping stage writes."""
    until(lambda: (file.exists() and file.read_text()) or flow.poll() is not None, seconds)
    return int(file.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("remote", ["none", "unreachable"])
def test_a_push_that_fails_is_tried_again_and_then_a_warning(
    toy: Path,
    run_in: Run,
    dvc: Dvc,
    remote: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran(toy, ["ingest"])
    monkeypatch.setattr(dvc_stages, "PUSH_AGAIN", (0.1,))
    if remote == "none":
        run_in(toy, *dvc, "remote", "remove", "storage")
    else:
        (toy.parent / "storage").write_text("a file, where a folder should be")
    assert not push(toy, "ingest")
    printed = capsys.readouterr().out
    assert printed.count("ERROR: ") == 2
    assert "warning: the data were not pushed: see `dvc remote list`" in printed
