"""The page of a failed run: its message, and a command that can be typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from flows.failed_run import as_markdown, command
from flows.failure import StageFailed

ID = UUID("00000000-0000-0000-0000-000000000007")
MONTHLY: Any = SimpleNamespace(name="monthly", parameters={"profile": "", "options": {}})


def page(message: str | None, deployment: Any = None, name: str = "Failed") -> str:
    run: Any = SimpleNamespace(id=ID, name="quick-fox", parameters={"profile": "mine"})
    state: Any = SimpleNamespace(message=message, name=name)
    return as_markdown("retrain", run, state, deployment)


def test_a_failure_s_own_words_stand_without_prefect_s() -> None:
    message = "StageFailed: stage train failed\nfeedback: | line 3 ```\n# remove it"
    text = page(f"Flow run encountered an exception: {message}", MONTHLY)
    assert text.startswith(
        "# retrain: failed\n\n    stage train failed\n    feedback: | line 3 ```\n    # remove it\n"
    )
    assert f"    prefect flow-run logs {ID}\n" in text
    assert text.endswith("    prefect deployment run retrain/monthly -p profile=mine")


def test_of_other_errors_the_kind_stays() -> None:
    text = page("Flow run encountered an exception: KeyError: 'x'")
    assert "    KeyError: 'x'\n" in text
    assert "# retrain: timedout\n" in page(None, name="TimedOut")


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        ({"profile": "", "options": {}}, ""),
        ({"profile": "mine", "options": {"k": 2}}, """ -p 'options={"k": 2}' -p profile=mine"""),
        ({"profile": "7", "options": {}}, """ -p 'profile="7"'"""),
        ({"profile": "a b", "options": None}, " -p options=null -p 'profile=a b'"),
    ],
)
def test_the_command_of_a_deployment_names_what_is_not_its_own(
    parameters: dict[str, Any], options: str
) -> None:
    """As `prefect deployment run` reads them: JSON, or else text."""
    assert (
        command("retrain", parameters, MONTHLY)
        == f"prefect deployment run retrain/monthly{options}"
    )


@pytest.mark.parametrize("first", ["/clone/.venv/bin/rolecall", "/clone/flows/cli.py"])
def test_a_command_is_the_one_that_was_typed(
    first: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [first, "normalize", "my titles.csv", "out"])
    assert command("normalize", {}, None) == "rolecall normalize 'my titles.csv' out"
    assert f"    {tmp_path}/logs/retrain.log\n" in page("x")


@pytest.mark.slow
def test_a_failed_and_a_crashed_run_leave_their_page(prefect_server: None) -> None:
    from prefect import flow
    from prefect.artifacts import Artifact

    from flows.failed_run import leave_page

    @flow(name="toy-failing", on_failure=[leave_page], on_crashed=[leave_page])
    def failing(error: str) -> None:
        raise {"stage": StageFailed("stage ingest failed\nno file"), "stop": KeyboardInterrupt()}[
            error
        ]

    for error, kind, start in (
        ("stage", StageFailed, "failed\n\n    stage ingest failed\n    no file\n"),
        ("stop", KeyboardInterrupt, "crashed\n\n    Execution was aborted by an interrupt signal."),
    ):
        with pytest.raises(kind):
            failing(error)
        left = Artifact.get("failed-toy-failing")
        assert left is not None and str(left.data).startswith(f"# toy-failing: {start}")
        assert left.flow_run_id is not None


@pytest.mark.slow
def test_a_command_that_fails_leaves_a_page_and_says_nothing_of_it(
    toy: Path, flow_environment: dict[str, str]
) -> None:
    from prefect.artifacts import Artifact

    (toy / "fail.txt").write_text("ingest")
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "retrain"],
        cwd=toy,
        env=flow_environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "hook" not in done.stdout + done.stderr
    left = Artifact.get("failed-retrain")
    assert left is not None
    assert str(left.data).startswith("# retrain: failed\n\n    stage ingest failed\n")
    assert "    the last words\n" in str(left.data)
    assert f"    {toy}/logs/retrain.log\n" in str(left.data)
    assert str(left.data).endswith("\n    rolecall retrain")
