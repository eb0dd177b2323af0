"""The order is DVC's, the lock is DVC's, a failure names its stage, a cancelled stage is gone."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dvc.repo import Repo

from flows.failure import StageFailed
from flows.stages import dvc_stages
from flows.stages.dvc_plan import plan_and_skipped
from flows.stages.dvc_stages import by_stage, outcome, repro, run_stage

Run = Callable[..., str]
Dvc = tuple[str, ...]
ROOT = Path(__file__).parents[2]
ORDER = ["ingest", "lexical", "train@typos-1", "evaluate@typos-1", "report"]


def visited(printed: str) -> list[str]:
    """List the stages that `dvc repro` says it visits, in order."""
    return re.findall(r"^(?:Running stage |Stage )?'([^']+)'", printed, re.MULTILINE)


@pytest.mark.thorough
def test_only_ancestors_of_the_target_are_planned(
    toy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Leave out `zeta` and the stages of k = 0, no ancestors of the report of k = 1."""
    monkeypatch.chdir(tmp_path)  # the plan does not depend on where one stands
    assert plan_and_skipped(toy, "report")[0] == ORDER


@pytest.mark.thorough
def test_the_order_of_a_diamond(tmp_path: Path, run_in: Run, dvc: Dvc) -> None:
    """Name stages against the alphabet; an imported file is a stage to DVC.

    Where DVC visits an import differs between its own runs; it stands before its reader.
    """
    stage = "  {}: {{cmd: 'touch {}.out', deps: [{}], outs: [{}.out]}}\n"
    edges = {"a": "m.out, z.out", "m": "q.out", "z": "outside.txt, q.out", "q": ""}
    text = "".join(stage.format(k, k, v, k) for k, v in edges.items())
    (tmp_path / "dvc.yaml").write_text("stages:\n" + text)
    (tmp_path / "source.csv").write_text("here")
    run_in(tmp_path, *dvc, "init", "--quiet", "--no-scm")
    run_in(tmp_path, *dvc, "import-url", "--quiet", "source.csv", "outside.txt")
    plan = plan_and_skipped(tmp_path, "a")[0]
    assert plan.index("outside.txt.dvc") < plan.index("z")
    printed = visited(run_in(tmp_path, *dvc, "repro", "a"))
    assert [s for s in plan if s in "amzq"] == [s for s in printed if s in "amzq"]
    assert set(plan) == set(printed) == {"a", "m", "z", "q", "outside.txt.dvc"}


@pytest.mark.thorough
def test_the_order_of_a_small_part_is_that_of_the_file(
    tmp_path: Path, run_in: Run, dvc: Dvc
) -> None:
    """Plan five of thirteen stages: DVC's own plan walks a set here, this one the file.

    A stage stands behind all that it depends on; where that leaves a choice, in the file's order:
    c needs e and a, so they come first; b needs nothing that is not there.
    """
    toy_pipeline(tmp_path, {"c": "e.out, a.out", "b": "", "e": "", "a": "b.out", "z": "c.out"})
    run_in(tmp_path, *dvc, "init", "--quiet", "--no-scm")
    assert plan_and_skipped(tmp_path, "z")[0] == ["e", "b", "a", "c", "z"]
    assert plan_and_skipped(tmp_path, "a")[0] == ["b", "a"]


@pytest.mark.slow
def test_the_plan_does_not_depend_on_the_hash_seed(tmp_path: Path, run_in: Run, dvc: Dvc) -> None:
    """Plan in fresh processes, a small part of a pipeline and the targets of this one."""
    toy_pipeline(tmp_path, dict.fromkeys("cbea", "") | {"z": "c.out, b.out, e.out, a.out"})
    run_in(tmp_path, *dvc, "init", "--quiet", "--no-scm")
    targets = [(str(tmp_path), "z")] + [(str(ROOT), target) for target in ("report", "table3")]
    code = (
        "from pathlib import Path; from flows.stages.dvc_plan import plan_and_skipped; "
        f"print([plan_and_skipped(Path(root), target)[0] for root, target in {targets}])"
    )
    plans = set()
    for seed in "012":
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        plans.add(done.stdout)
    assert len(plans) == 1
    assert plans.pop().startswith("[['c', 'b', 'e', 'a', 'z'], ['ingest', ")


def toy_pipeline(folder: Path, edges: dict[str, str]) -> None:
    """Write `dvc.yaml` with these stages, each with its deps, between eight that nobody needs."""
    idle = {f"idle{number}": "" for number in range(8)}
    stage = "  {}: {{cmd: 'touch {}.out', deps: [{}], outs: [{}.out]}}\n"
    text = "".join(stage.format(k, k, v, k) for k, v in (idle | edges).items())
    (folder / "dvc.yaml").write_text("stages:\n" + text)


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
def test_flow_and_bare_repro_write_the_same_lock(
    toy: Path, run_in: Run, dvc: Dvc, prefect_server: None, tmp_path: Path
) -> None:
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
def test_a_failed_stage_is_named_with_its_last_lines(toy: Path, prefect_server: None) -> None:
    """The stages before it are done; none behind it is tried."""
    (toy / "fail.txt").write_text("train@typos-1")
    with pytest.raises(StageFailed, match=r"(?s)stage train@typos-1 failed\n.*the last words"):
        ran(toy, ORDER)
    assert plan_and_skipped(toy, "report") == (ORDER, ["ingest", "lexical"])


@pytest.mark.slow
@pytest.mark.parametrize("busy", ["ingest", "lexical"])
def test_a_stage_that_another_run_holds_is_waited_for(
    toy: Path, dvc: Dvc, busy: str, prefect_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run is killed meanwhile; what was done before the wait is not done again."""
    monkeypatch.setattr(dvc_stages, "WAIT", 0.1)
    if busy == "lexical":
        assert ran(toy, ["ingest"]) == {"ingest": "ran"}
    (toy / "sleep.txt").write_text(busy)
    other = subprocess.Popen([*dvc, "repro", busy], cwd=toy, text=True)
    pid = stage_of(other, toy / "pid.txt")
    (toy / "sleep.txt").unlink()
    printed: list[str] = []

    def noting(lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            printed.append(line)
            if line.startswith("waiting: another run uses files of ") and other.poll() is None:
                os.kill(pid, signal.SIGKILL)
                other.wait()
            yield line

    with repro(toy, ["ingest", "lexical"]) as parts:
        outcomes = {stage: run_stage(stage, noting(lines)) for stage, lines in parts}
    assert outcomes == {"ingest": "ran" if busy == "ingest" else "unchanged", "lexical": "ran"}
    assert any(line.startswith("waiting: another run uses") for line in printed)
    assert sum("Running stage 'lexical'" in line for line in printed) == 1
    assert plan_and_skipped(toy, "lexical")[1] == ["ingest", "lexical"]


def ran(root: Path, stages: list[str]) -> dict[str, str]:
    """Bring stages up to date, and say what DVC did with each."""
    with repro(root, stages) as parts:
        return {stage: run_stage(stage, lines) for stage, lines in parts}


@pytest.mark.slow
def test_a_cancelled_flow_leaves_no_stage(
    toy: Path, flow_environment: dict[str, str], run_in: Run, dvc: Dvc
) -> None:
    """Send SIGTERM, as a Prefect worker does on cancellation. The next run is not blocked."""
    (toy / "sleep.txt").write_text("ingest")
    flow = subprocess.Popen(
        [sys.executable, "-m", "flows.cli", "retrain"],
        cwd=toy,
        env=flow_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    pid = stage_of(flow, toy / "pid.txt")
    flow.terminate()
    printed = flow.communicate(timeout=120)[0]
    assert flow.returncode != 0, printed
    wait_until_gone(pid)
    (toy / "sleep.txt").unlink()
    run_in(toy, *dvc, "repro", "report")


def stage_of(flow: subprocess.Popen[str], file: Path, seconds: float = 120) -> int:
    """Return the process number that the sleeping stage writes."""
    end = time.monotonic() + seconds
    while not (file.exists() and file.read_text()):
        if flow.poll() is not None or time.monotonic() > end:
            flow.kill()
            raise AssertionError(flow.communicate()[0])
        time.sleep(0.05)
    return int(file.read_text())


def wait_until_gone(pid: int, seconds: float = 10) -> None:
    """Wait until no process has this number (a zombie has none of its files open)."""
    end = time.monotonic() + seconds
    status = Path(f"/proc/{pid}/status")
    while status.exists() and "zombie" not in status.read_text():
        assert time.monotonic() < end, f"process {pid} is alive after {seconds} s"
        time.sleep(0.05)
