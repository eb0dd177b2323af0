"""`rolecall` as a stranger types it: help, profiles, errors, and how it ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import typer
from background import ROLECALL, ROOT, git, ran, rolecall, running_in, until
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.answers import queue_facts
from flows.commands.project_root import profile_root, project_root
from flows.environment import MARKS
from flows.errors import Failure

GROUP: Any = typer.main.get_command(app)
COMMANDS = [*GROUP.commands]
PARAMS = [(name, option) for name in COMMANDS for option in GROUP.commands[name].params]
OPTIONS = {name: option for name, option in PARAMS if option.name == "profile"}
SLOW_IMPORTS = ("prefect", "torch", "mlflow", "dvc")


@pytest.fixture(autouse=True)
def environment_comes_back() -> Iterator[None]:
    """Undo what a command sets in this process."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def typed(*words: str) -> Any:
    return CliRunner().invoke(app, [*words])


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with a commit and a pipeline's marks, and change to it."""
    root = tmp_path.resolve() / "clone"
    root.mkdir()
    for mark in MARKS:
        (root / mark).touch()
    git(root, "init", "--quiet")
    git(root, "commit", "--quiet", "--allow-empty", "--message=first")
    monkeypatch.chdir(root)
    return root


def replaced(monkeypatch: pytest.MonkeyPatch, function: str, result: Any = None) -> Mock:
    monkeypatch.setattr(function, mock := Mock(return_value=result))
    return mock


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_on_lines_of_their_own(command: str) -> None:
    result = typed(command, "--help")
    assert result.exit_code == 0
    assert re.search(rf"^ *Examples:\n +.*rolecall {command}", result.output, re.MULTILINE)


def test_alone_it_says_what_there_is() -> None:
    result = typed()
    for command in COMMANDS:
        line = next(line for line in result.output.splitlines() if line.split()[:1] == [command])
        assert re.search(r"\w\.$", line), "a whole sentence"


def test_wrong_usage_has_a_status_of_its_own() -> None:
    assert typed("retrian").exit_code == 2
    assert typed("retrain", "--profiel", "esco").exit_code == 2
    for words in ((".",), (".", "--model=m", "--depth=9"), ("--model=m",)):
        assert typed("benchmark", *words).exit_code == 2


def test_the_default_is_esco_unless_the_environment_names_another(monkeypatch) -> None:
    """But Table 3 is the sample's in any environment: six networks on ESCO take hours."""
    without = {"init", "schedule", "notify", "benchmark"}
    assert {*OPTIONS} == {*GROUP.commands} - without
    for command, option in OPTIONS.items():
        default, mine = ("sample",) * 2 if command == "reproduce" else ("esco", "mine")
        context = typer.Context(GROUP.commands[command])
        monkeypatch.delenv("ROLECALL_PROFILE", raising=False)
        assert option.consume_value(context, {})[0] == option.default == default
        for named, expected in (("", default), ("mine", mine)):
            monkeypatch.setenv("ROLECALL_PROFILE", named)
            assert option.consume_value(context, {})[0] == expected
        assert option.consume_value(context, {"profile": "other"})[0] == "other"


def test_the_sample_is_the_main_tree_and_a_profile_says_what_trains_it(clone, monkeypatch) -> None:
    assert profile_root("sample") == profile_root("") == clone
    said = "`rolecall retrain --profile esco` trains its model in a quarter.*`--profile sample`"
    with pytest.raises(Failure, match=said):
        profile_root("esco")
    (clone / "profiles").mkdir()
    (clone / "profiles/other.yaml").touch()
    with pytest.raises(Failure, match=r"no profile 'mine' in .*; there are: other$"):
        profile_root("mine")
    (clone / "profiles/mine.yaml").touch()
    with pytest.raises(Failure, match=r"`rolecall retrain --profile mine` trains its model$"):
        profile_root("mine")
    below = clone / ".workspaces/mine/data"
    below.mkdir(parents=True)
    for mark in MARKS:
        (below.parent / mark).touch()
    monkeypatch.chdir(below)  # in a workspace a command works as in the clone
    assert project_root() == profile_root("sample") == clone
    assert profile_root("mine") == below.parent


def test_a_command_without_a_model_of_its_own_says_so(clone: Path, monkeypatch) -> None:
    monkeypatch.delenv("ROLECALL_PROFILE")
    needing = ("status", "models", "rollback", "ask nurse", "serve", "normalize i o", "review o q")
    for words in needing:
        result = typed(*words.split())
        assert result.exit_code == 1, words
        assert "profile esco has not run here yet" in result.output, words
    assert not (clone / ".workspaces").exists()


@pytest.mark.thorough
def test_a_named_model_answers_whatever_has_run(clone: Path, monkeypatch) -> None:
    """No profile is needed, and the address of the registry, which all share, needs none either."""
    monkeypatch.delenv("ROLECALL_PROFILE")
    model = "models:/mine/1"
    asked = replaced(monkeypatch, "tasks.apps.ask.ask")
    served = replaced(monkeypatch, "tasks.apps.web.application.serve")
    normalized = replaced(monkeypatch, "tasks.apps.bulk.normalize.normalize", {})
    monkeypatch.setattr("flows.commands.answers.bulk_facts", lambda *_: {"rows": "1"})
    for words in (["ask", "nurse"], ["serve"], ["normalize", "in.csv", "out", "--top-k=2"]):
        result = typed(*words, f"--model={model}")
        assert result.exit_code == 0, result.output
    asked.assert_called_once_with(["nurse"], model, clone, {}, as_json=False)
    assert served.call_args.args == (model, clone)
    arguments = (f"{clone}/in.csv", clone / "out", model, clone / ".prediction_cache", clone)
    assert normalized.call_args.args == arguments
    assert normalized.call_args.kwargs["top_k"] == 2
    assert typed("models", "--address").output.startswith("sqlite:")
    workspace = clone / ".workspaces/mine"  # without a name the profile's model answers
    workspace.mkdir(parents=True)
    (workspace / "params.yaml").write_text("register: {name: mine}")
    result = typed("normalize", "s3://board/x", "out.csv", "--profile", "mine")
    assert result.exit_code == 0, result.output
    own = ("models:/mine@champion", workspace / ".prediction_cache", workspace)
    assert normalized.call_args.args == ("s3://board/x", clone / "out.csv", *own)


@pytest.mark.parametrize("weeks", [["one"], ["one", "two", "three"]])
def test_the_last_name_of_a_review_is_its_output(clone, monkeypatch, weeks) -> None:
    """Options may stand anywhere. The facts say how many runs there are, and which is newest."""
    (clone / "params.yaml").write_text("feedback: {folder: feedback}")
    (clone / "queue").mkdir()
    (clone / "queue/queue.csv").write_text("raw_title,predicted_occupation_id,rows\n")
    calls = replaced(monkeypatch, "tasks.apps.review.queue.review")
    done = typed("review", "--budget", "5", *weeks, "queue", "--profile", "sample")
    assert done.exit_code == 0, done.output
    options = calls.call_args.kwargs
    assert calls.call_args.args == ([clone / week for week in weeks], clone / "queue")
    assert (options["budget"], options["feedback"]) == (5, str(clone / "feedback"))
    assert ("runs    3, the newest " in done.output) == (len(weeks) > 1)


def test_the_facts_of_a_queue(tmp_path: Path) -> None:
    """1,200 and 3 rows; the second title has no answer."""
    lines = ["raw_title,predicted_occupation_id,rows", "nurse,n1,1200", '"hello,\nyou",,3']
    (tmp_path / "queue.csv").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    assert queue_facts(tmp_path) == {
        "queue": "2 titles of 1,203 rows, 1 without an answer",
        "page": str(tmp_path / "review.html"),
        "table": str(tmp_path / "queue.csv"),
    }


@pytest.mark.slow
def test_a_bad_input_is_one_sentence_without_libraries_that_are_slow_to_import(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("id,title\n1,nurse\n")
    words = ["normalize", str(tmp_path / "in.csv"), str(tmp_path / "out"), "--column=titel"]
    code = (
        "import sys\nfrom flows.cli import app\n"
        f"try:\n    app({words!r})\nexcept SystemExit as ended:\n    print(ended.code)\n"
        f"print([name for name in {SLOW_IMPORTS} if name in sys.modules])"
    )
    done = ran(ROOT, sys.executable, "-c", code)
    said = "error: in.csv: no column 'titel', but id (string), title (string)"
    assert done.stderr.startswith(said) and len(done.stderr.splitlines()) == 1
    assert done.stdout.splitlines()[-2:] == ["1", "[]"]
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_init_ends_with_the_command_that_corrects_a_column(clone: Path) -> None:
    """Repeat the options as they were typed, so that the line can be copied."""
    shutil.copy(ROOT / "params.yaml", clone)
    (clone / "profiles").mkdir()
    (clone / "profiles/esco.yaml").touch()
    rows = ["id,title,x", "1,cook,a", "1,chef,b", "2,nurse,c", "2,night nurse,d"]
    (clone / "my titles.csv").write_text("\n".join(rows), encoding="utf-8")
    words = ["--taxonomy", "my titles.csv", "--column", "title=title"]
    done = typed("init", "mine", *words)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-3:] == [
        "written: profiles/mine.yaml",
        "next: rolecall retrain --profile mine",
        "to correct a column: rolecall init mine --taxonomy 'my titles.csv' --column=title=title "
        "--force --column ROLE=COLUMN",
    ]
    taken = {"sample": "the embedded example", "esco": "esco.yaml exists", "mine": "or --force to"}
    for name, said in taken.items():
        refused = typed("init", name, *words)
        assert refused.exit_code == 1 and said in refused.output
    assert typed("init", "mine", *words[:2], "--force", "--column", "title=x").exit_code == 0
    assert 'title: "x"' in (clone / "profiles/mine.yaml").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_outside_of_a_clone(tmp_path: Path) -> None:
    done = rolecall(tmp_path, "status")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: no dvc.yaml and params.yaml in {tmp_path} or above")


@pytest.mark.slow
def test_status_says_what_would_run_and_why(toy: Path) -> None:
    (toy / "below").mkdir()
    done = rolecall(toy / "below", "status")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{toy}: 0 of 5 stages are up to date"
    assert lines[1].split()[0] == "ingest"
    assert "data/sample modified, params.yaml new" in lines[1]
    assert not (toy / "dvc.lock").exists()
    assert (toy / ".dvc/tmp/site/repo").is_dir()  # not in /var/tmp, which all users share
    done = rolecall(toy, "status", "--profile", "other")
    assert done.returncode == 1
    assert "`rolecall retrain --profile other`" in done.stderr
    (toy / "params.yaml").write_text("mix: [")
    done = rolecall(toy, "status")
    assert done.returncode == 1
    assert done.stderr.startswith("error: DVC: ")
    assert "params.yaml" in done.stderr
    assert len(done.stderr.splitlines()) <= 10


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_after_a_signal(toy, own_server, sign) -> None:
    """End the flow in a stage, as a Prefect worker does: no stage, server or lock is left."""
    (toy / "sleep.txt").write_text("ingest")
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen([*ROLECALL, "retrain"], cwd=toy, env=own_server, **pipes)
    until(lambda: (toy / "pid.txt").exists())
    assert len(running_in(toy)) > 2
    process.send_signal(sign)
    printed, _ = process.communicate()
    until(lambda: not running_in(toy))
    assert process.returncode != 0
    if sign == signal.SIGINT:
        assert process.returncode == 128 + sign
        assert printed.splitlines()[-1] == ("interrupted: run the same command again to continue")
        assert "Traceback" not in printed
    (toy / "sleep.txt").unlink()
    subprocess.run([sys.executable, "-m", "dvc", "repro", "ingest"], cwd=toy, check=True)


@pytest.mark.slow
def test_serving_waits_for_the_schedule(toy: Path, own_server: dict[str, str]) -> None:
    """`rolecall retrain --serve` needs no server, and takes its own along when it ends."""
    shutil.copy(ROOT / "prefect.yaml", toy)
    log = toy.parent / "serve.log"
    with log.open("w") as file:
        command = [*ROLECALL, "retrain", "--serve"]
        process = subprocess.Popen(command, cwd=toy, env=own_server, stdout=file, stderr=file)
    until(lambda: "retrain/monthly" in log.read_text() or process.poll() is not None)
    assert process.poll() is None, log.read_text()
    process.send_signal(signal.SIGTERM)
    process.wait()
    until(lambda: not running_in(toy))
    assert "Traceback" not in log.read_text()
