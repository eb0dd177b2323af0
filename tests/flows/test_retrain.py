"""The flow `retrain` from end to end on the toy repository: stages, registry, gate, page."""

import sys
from pathlib import Path
from typing import Any

import pytest
from background import ROOT, ran, rolecall
from prefect_beside import page

from flows.errors import StageFailed
from tasks.release.registry.outcomes import Promotion, RegisteredVersion

pytestmark = pytest.mark.slow
ORDER = ["ingest", "lexical", "train@typos-1", "evaluate@typos-1", "report"]
Calls = list[tuple[object, ...]]


def run(root: Path, calls: Calls) -> Any:
    """Run the flow with a registry in memory, which notes its calls."""
    from flows import retrain

    def register(root: Path) -> RegisteredVersion:
        assert (root / "data/report/report.html").exists()
        calls.append(("register", root))
        return RegisteredVersion("toy", "7", "challenger", len(calls) > 1)

    def promote(root: Path, version: str) -> Promotion:
        calls.append(("promote", root, version))
        return Promotion(True, "as requested", "| figures |\n| --- |")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrain, "register", register)
        patch.setattr(retrain, "promote", promote)
        patch.chdir(root)
        return retrain.retrain()


def test_all_steps_in_order_and_a_page_in_prefect(toy: Path, prefect_server: None) -> None:
    from flows.retrain import as_text

    calls = Calls()
    summary = run(toy, calls)
    assert calls == [("register", toy), ("promote", toy, "7")]
    assert list(summary.stages) == ORDER
    assert summary.pushed
    assert any((toy.parent / "storage").rglob("*"))
    text = as_text(summary)
    assert "typos  ngram   0.500 [0.400, 0.600]  0.550 [0.450, 0.650]  10" in text
    assert f"report  {toy}/data/gate/report.html" in text
    assert "model   toy version 7, champion\n" in text

    head = ("# toy version 7, champion", "**promoted: as requested**")
    for text in (*head, "| figures |", "| ingest | ran |"):
        assert text in page("retrain")

    again = run(toy, calls)
    assert set(again.stages.values()) == {"unchanged"}
    text = as_text(again)
    assert "version 7, champion (registered before)" in text
    assert text.endswith("\nto do   nothing")


def test_the_command_logs_task_runs_that_are_named_after_stages(toy, flow_environment) -> None:
    """Its own lines, a stage's lines, the exit status; then a failed stage, and its page."""
    done = rolecall(toy, "retrain", environment=flow_environment)
    assert done.returncode == 0, done.stdout + done.stderr
    progress = done.stderr
    assert "stage 3 of 5  train@typos-1 ..." in progress
    assert "train@typos-1: working on train@typos-1" in progress
    assert "register: toy version 1 registered" in progress
    ends = "stages  ingest ran, lexical ran, train@typos-1 ran"
    assert done.stdout.rstrip().splitlines()[-5].startswith(ends)
    assert "model   toy version 1, champion" in done.stdout

    (toy / "fail.txt").write_text("ingest")
    (toy / "data/sample/titles.csv").write_text("title\nminer\n")
    failed = rolecall(toy, "retrain", environment=flow_environment)
    assert failed.returncode == 1
    end = failed.stderr.splitlines()
    assert end[end.index("error: stage ingest failed") :][-1].startswith("full log: ")
    assert failed.stderr.count("the last words") == 2
    assert "Traceback" not in failed.stderr
    assert "Traceback" in (toy / "logs/retrain.log").read_text()
    assert "hook" not in failed.stdout + failed.stderr
    assert "register:" not in failed.stderr, "a failed stage ends the flow"
    left = page("failed-retrain")
    assert left.startswith("# retrain: failed\n\n    stage ingest failed\n")
    assert "    the last words\n" in left and f"    {toy}/logs/retrain.log\n" in left
    assert left.endswith("\n    rolecall retrain")


def test_parameters_are_checked_before_anything_runs(
    toy: Path,
    prefect_server: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """But not again where nothing is to be run; the check may last."""
    monkeypatch.setattr("flows.processes.SECONDS_OF_SILENCE", 0.2)
    checker, params = toy / "tasks/check_params.py", toy / "params.yaml"
    checker.write_text("import time; time.sleep(1)\n" + checker.read_text())
    params.write_text(params.read_text().replace("top_k: 5", "top_k: 0"))
    with pytest.raises(StageFailed, match=r"^params\.yaml: register\.top_k$"):
        run(toy, Calls())
    assert "... still running after" in caplog.text
    assert not (toy / "data/ingest").exists()
    assert not (toy / "dvc.lock").exists()

    params.write_text(params.read_text().replace("top_k: 0", "top_k: 5"))
    run(toy, Calls())
    assert "checked top_k 5" in caplog.text
    params.write_text(params.read_text().replace("top_k: 5", "top_k: 6"))
    run(toy, Calls())
    assert "checked top_k 6" not in caplog.text


def test_importing_the_flow_does_nothing() -> None:
    """Touch no environment, server, MLflow or DVC: those come with a run."""
    code = (
        "import os, sys; before = dict(os.environ); import flows.retrain; "
        "assert before == dict(os.environ); "
        "print([m for m in ('mlflow', 'dvc', 'torch', 'polars') if m in sys.modules])"
    )
    done = ran(ROOT, sys.executable, "-c", code)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
