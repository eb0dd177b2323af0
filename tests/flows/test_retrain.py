"""The flow from end to end on the toy repository, with a registry in memory."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.failure import StageFailed

pytestmark = pytest.mark.slow
Run = Callable[..., str]
Dvc = tuple[str, ...]


class Shelf:
    """A registry in memory that remembers how it was called."""

    def __init__(self, promoted: bool) -> None:
        self.promoted = promoted
        self.calls: list[tuple[object, ...]] = []

    def register(self, root: Path, show: object) -> SimpleNamespace:
        assert (root / "data/report/report.html").exists()
        self.calls.append(("register", root))
        before = len(self.calls) > 1
        return SimpleNamespace(name="toy", version=7, alias="challenger", already_registered=before)

    def promote(self, root: Path, version: object, show: object) -> SimpleNamespace:
        self.calls.append(("promote", root, version))
        return SimpleNamespace(
            promoted=self.promoted, reason="as requested", table_markdown="| figures |\n| --- |"
        )


def run(root: Path, shelf: Shelf):  # type: ignore[no-untyped-def]
    from flows import retrain

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrain, "register_model", shelf.register)
        patch.setattr(retrain, "run_gate", shelf.promote)
        patch.chdir(root)
        return retrain.retrain()


def test_all_steps_in_order_and_a_page_in_prefect(toy: Path, prefect_server: None) -> None:
    from prefect.artifacts import Artifact

    from flows.summary import as_text

    shelf = Shelf(promoted=True)
    summary = run(toy, shelf)
    assert shelf.calls == [("register", toy), ("promote", toy, 7)]
    assert list(summary.stages) == [
        "ingest",
        "lexical",
        "train@typos-1",
        "evaluate@typos-1",
        "report",
    ]
    assert summary.pushed
    assert any((toy.parent / "storage").rglob("*"))
    text = as_text(summary)
    assert "typos  ngram   0.500 [0.400, 0.600]  0.550 [0.450, 0.650]  10" in text
    assert f"report  {toy}/data/gate/report.html" in text
    assert "model   toy version 7, champion\n" in text

    artifact = Artifact.get("retrain")
    assert artifact is not None
    for text in (
        "# toy version 7, champion",
        "**promoted: as requested**",
        "| figures |",
        "| ingest | ran |",
    ):
        assert text in str(artifact.data)

    again = run(toy, shelf)
    assert set(again.stages.values()) == {"unchanged"}
    assert "version 7, champion (registered before)" in as_text(again)


def test_task_runs_are_named_after_stages_and_logged(
    toy: Path, flow_environment: dict[str, str]
) -> None:
    """Run the command: its own lines, a stage's lines as they come, the exit status."""
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "retrain"],
        cwd=toy,
        env=flow_environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    progress = done.stderr
    assert "stage 3 of 5  train@typos-1 ..." in progress
    assert "train@typos-1: working on train@typos-1" in progress
    assert (
        done.stdout.rstrip()
        .splitlines()[-5]
        .startswith("stages  ingest ran, lexical ran, train@typos-1 ran")
    )
    assert "model   toy version 1, champion" in done.stdout

    (toy / "fail.txt").write_text("ingest")
    (toy / "data/sample/titles.csv").write_text("title\nminer\n")
    failed = subprocess.run(
        [sys.executable, "-m", "flows.cli", "retrain"],
        cwd=toy,
        env=flow_environment,
        capture_output=True,
        text=True,
    )
    assert failed.returncode == 1
    end = failed.stderr.splitlines()
    assert end[end.index("error: stage ingest failed") :][-1].startswith("full log: ")
    assert "the last words" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert "Traceback" in (toy / "logs/retrain.log").read_text()


def test_parameters_are_checked_before_anything_starts(
    toy: Path,
    prefect_server: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """But not again where nothing is to be run; the check may last."""
    monkeypatch.setattr("flows.processes.streaming.SECONDS_OF_SILENCE", 0.2)
    checker, params = toy / "tasks/check_params.py", toy / "params.yaml"
    checker.write_text("import time; time.sleep(1)\n" + checker.read_text())
    params.write_text(params.read_text().replace("top_k: 5", "top_k: 0"))
    shelf = Shelf(promoted=True)
    with pytest.raises(StageFailed, match=r"^params\.yaml: register\.top_k$"):
        run(toy, shelf)
    assert "... still running after" in caplog.text
    assert not (toy / "data/ingest").exists()
    assert not (toy / "dvc.lock").exists()

    params.write_text(params.read_text().replace("top_k: 0", "top_k: 5"))
    run(toy, shelf)
    assert "checked top_k 5" in caplog.text
    params.write_text(params.read_text().replace("top_k: 5", "top_k: 6"))
    run(toy, shelf)
    assert "checked top_k 6" not in caplog.text


def test_a_failed_stage_ends_the_flow_before_registering(toy: Path, prefect_server: None) -> None:
    (toy / "fail.txt").write_text("evaluate@typos-1")
    shelf = Shelf(promoted=True)
    with pytest.raises(StageFailed, match="evaluate@typos-1"):
        run(toy, shelf)
    assert shelf.calls == []


@pytest.mark.parametrize("remote", ["none", "unreachable"])
def test_a_push_that_fails_is_a_warning(
    toy: Path,
    run_in: Run,
    dvc: Dvc,
    prefect_server: None,
    remote: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from flows.stages.target import push

    if remote == "none":
        run_in(toy, *dvc, "remote", "remove", "storage")
    else:
        (toy.parent / "storage").write_text("a file, where a folder should be")
    monkeypatch.setattr(push, "retry_delay_seconds", [0.1, 0.1])
    with caplog.at_level(logging.WARNING):
        summary = run(toy, Shelf(promoted=False))
    assert not summary.pushed
    assert summary.model == "toy version 7, challenger"
    assert "the data were not pushed" in caplog.text


def test_importing_the_flow_does_nothing() -> None:
    """Touch no environment, server, MLflow or DVC: those come with a run."""
    code = (
        "import os, sys; before = dict(os.environ); import flows.retrain; "
        "assert before == dict(os.environ); "
        "print([m for m in ('mlflow', 'dvc', 'torch', 'polars') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
