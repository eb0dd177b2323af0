"""`rolecall` as a stranger types it: help, errors, how it ends; nothing of ours is left running."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import RENAMED_COMMANDS, RENAMED_OPTIONS, app
from tasks.apps.bulk.output import STATE
from tasks.apps.bulk.plan import plan_of
from tasks.apps.bulk.source import TitleSource
from tasks.release.registry import opening

ROLECALL = (sys.executable, "-m", "flows.cli")
COMMANDS = [
    command.callback.__name__.replace("_", "-")
    for command in app.registered_commands
    if command.callback
]
ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_on_lines_of_their_own(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert re.search(rf"^ *Examples:\n +.*rolecall {command}", result.output, re.MULTILINE)


def test_alone_it_says_what_there_is() -> None:
    result = CliRunner().invoke(app, [])
    for command in COMMANDS:
        line = next(line for line in result.output.splitlines() if line.split()[:1] == [command])
        assert re.search(r"\w\.$", line), "a whole sentence"


def test_wrong_usage_has_a_status_of_its_own() -> None:
    assert CliRunner().invoke(app, ["retrian"]).exit_code == 2
    assert CliRunner().invoke(app, ["retrain", "--profiel", "esco"]).exit_code == 2


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("in.csv", ["--column", "titel"], "no column 'titel', but id (string), title (string)"),
        ("in.csv", ["--encoding", "utf-9"], "'utf-9' is no encoding"),
        ("absent.csv", [], "no file or folder"),
        ("in.xlsx", [], "no readable workbook"),
    ],
)
def test_an_unreadable_input_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: list[str], said: str
) -> None:
    monkeypatch.setattr("flows.commands.answers.run_flow", None)
    (tmp_path / "in.csv").write_text("id,title\n1,nurse\n")
    (tmp_path / "in.xlsx").write_text("no workbook")
    command = ["normalize", str(tmp_path / name), str(tmp_path / "out"), *words]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert said in result.output
    assert not (tmp_path / "out").exists()


def test_a_file_at_an_address_is_refused_as_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    monkeypatch.setattr("flows.commands.answers.run_flow", None)
    fsspec.filesystem("memory").pipe_file("/titles.csv", b"id,title\n1,nurse\n")
    command = ["normalize", "memory://titles.csv", str(tmp_path / "out"), "--column", "titel"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "no column 'titel', but id (string), title (string)" in result.output


def test_the_first_files_of_a_folder_at_an_address_are_opened_as_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    monkeypatch.setattr("flows.commands.answers.run_flow", lambda *_: pytest.fail("begins"))
    monkeypatch.setattr("flows.commands.answers.FIRST", 2)
    folder = fsspec.filesystem("memory")
    for number in range(3):
        folder.pipe_file(f"/many/{number}.csv", b"id,title\n1,nurse\n")
    opened = list[str]()
    open_file = type(folder).open
    monkeypatch.setattr(
        type(folder),
        "open",
        lambda self, path, *a: opened.append(path) or open_file(self, path, *a),
    )
    command = ["normalize", "memory://many", str(tmp_path / "out"), "--column", "titel"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "no column 'titel', but id (string), title (string)" in result.output
    assert {*opened} == {"/many/0.csv", "/many/1.csv"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "in.csv.out is there already, of a run with other model, files: name another place"),
        (["--top-k", "3"], "of a run with other model, params, files: name another place"),
    ],
)
def test_an_output_of_another_run_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    source, output = tmp_path / "in.csv", tmp_path / "in.csv.out"
    source.write_text("id,title\n1,nurse\n")
    options = {"prefix": "found_"}
    result = {
        **plan_of(TitleSource.find(str(source)), str(source), options),
        **{"model": "models:/rolecall/1", "model_version": "m1", STATE: "of other files"},
    }
    output.mkdir()
    (output / "manifest.json").write_text(json.dumps({"result": result}))
    monkeypatch.setattr("flows.commands.answers.run_flow", lambda *_: pytest.fail("begins"))
    monkeypatch.setattr(opening, "stored", lambda *_: ("models:/rolecall/2", tmp_path))
    command = ["normalize", str(source), str(output), "--prefix=found_", *words]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert said in done.output


def test_columns_of_the_answer_in_the_input_are_refused_as_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.commands.answers.run_flow", lambda *_: pytest.fail("begins"))
    (tmp_path / "in.csv").write_text("title,confidence\nnurse,1\n")
    command = ["normalize", str(tmp_path / "in.csv"), str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "columns of the answer: confidence; use --prefix=answer_" in done.output


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("taken", "taken is there already: name another place"),
        ("queue", "name a file or folder that `rolecall normalize` has finished"),
    ],
)
def test_a_review_that_cannot_be_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, said: str
) -> None:
    monkeypatch.setattr("flows.commands.answers.run_flow", lambda *_: pytest.fail("begins"))
    (tmp_path / "taken").mkdir()
    done = CliRunner().invoke(app, ["review", str(tmp_path / "none"), str(tmp_path / output)])
    assert done.exit_code == 1
    assert said in done.output


@pytest.mark.parametrize("weeks", [["one"], ["one", "two", "three"]])
def test_the_last_name_of_a_review_is_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weeks: list[str]
) -> None:
    """Options may stand anywhere; a run that is named twice is refused before anything starts."""
    calls = list[tuple[object, ...]]()

    def flow(*arguments: object) -> dict[str, str]:
        calls.append(arguments)
        return {}

    answers = "flows.commands.answers"
    monkeypatch.setattr(f"{answers}.change_to_root", lambda _: nullcontext(tmp_path))
    monkeypatch.setattr(f"{answers}.existing_root", lambda _: tmp_path)
    monkeypatch.setattr(f"{answers}.run_flow", lambda *_: nullcontext())
    monkeypatch.setattr("flows.review.review", flow)
    monkeypatch.chdir(tmp_path)
    manifest = {"result": {"column": "title", "prefix": "", "model": "m"}, "rows": 0, "parts": []}
    for week in weeks:
        (tmp_path / week).mkdir()
        (tmp_path / week / "manifest.json").write_text(json.dumps(manifest))
    command = ["review", "--budget", "5", *weeks, "queue", "--profile", "sample"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    runs, output = [str(tmp_path / week) for week in weeks], str(tmp_path / "queue")
    assert calls == [(runs, output, {"budget": "5"}, "sample")]
    done = CliRunner().invoke(app, ["review", *weeks, weeks[0], "queue"])
    assert done.exit_code == 1 and "is named twice" in str(done.exception)
    assert len(calls) == 1


@pytest.mark.thorough
def test_normalize_takes_model_and_column_from_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its column the file would be refused: neither name is one of titles."""
    (tmp_path / "params.yaml").write_text("ingest: {inputs: {columns: {raw_title: Beruf}}}")
    (tmp_path / "in.csv").write_text("Beruf,Ort\nKoch,Ulm\n")
    profiles, calls = list[str | None](), list[tuple[object, ...]]()

    def existing_root(profile: str | None) -> Path:
        profiles.append(profile)
        return tmp_path

    def flow(*arguments: object) -> dict[str, str]:
        calls.append(arguments)
        return {}

    monkeypatch.setattr("flows.commands.answers.existing_root", existing_root)
    monkeypatch.setattr("flows.commands.answers.run_flow", lambda *_: nullcontext())
    monkeypatch.setattr("flows.normalize.normalize", flow)
    monkeypatch.setattr("flows.normalize.facts", lambda *_: {"rows": "1"})
    source, output = str(tmp_path / "in.csv"), str(tmp_path / "out.csv")
    result = CliRunner().invoke(app, ["normalize", source, output, "--profile", "mine"])
    assert result.exit_code == 0, result.output
    assert profiles == ["mine"]
    assert calls == [(source, output, "", {}, "", "mine")]


@pytest.mark.slow
def test_an_input_is_checked_without_the_libraries_that_are_slow_to_import(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,title\n1,nurse\n")
    words = ["normalize", str(tmp_path / "in.csv"), str(tmp_path / "out"), "--column=titel"]
    code = (
        "import sys\nfrom flows.cli import app\n"
        f"try:\n    app({words!r})\nexcept SystemExit as ended:\n    print(ended.code)\n"
        "print([name for name in ('prefect', 'torch', 'mlflow', 'dvc') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "no column 'titel'" in done.stderr
    assert done.stdout.splitlines()[-2:] == ["1", "[]"]


@pytest.mark.parametrize(("old", "new"), RENAMED_COMMANDS.items())
def test_an_old_command_is_refused_with_the_new_one(old: str, new: str) -> None:
    done = CliRunner().invoke(app, [old, "--some-option", "value"])
    assert done.exit_code == 2
    assert f"`rolecall {old}` is now `rolecall {new}`" in done.output
    assert old not in COMMANDS and new in COMMANDS


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "old", "new"),
    [(name, *names) for name, options in RENAMED_OPTIONS.items() for names in options.items()],
)
@pytest.mark.parametrize("value", [["x"], []], ids=["apart", "joined"])
def test_an_old_option_is_refused_with_the_new_one(
    command: str, old: str, new: str, value: list[str]
) -> None:
    words = [old, *value] if value else [f"{old}=x"]
    done = CliRunner().invoke(app, [command, "first", "second", *words])
    assert done.exit_code == 2
    assert f"`rolecall {command} {old}` is now `rolecall {command} {new}`" in done.output
    listed = CliRunner().invoke(app, [command, "--help"]).output
    assert f"{new} " in listed and f"{old} " not in listed


@pytest.mark.thorough
def test_outside_of_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = subprocess.run([*ROLECALL, "status"], env=_with_root(), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"\nerror: no dvc.yaml and params.yaml in {tmp_path} or above")


@pytest.mark.slow
def test_status_says_what_would_run_and_why(toy: Path) -> None:
    (toy / "below").mkdir()
    command = [*ROLECALL, "status"]
    done = subprocess.run(
        command, cwd=toy / "below", env=_with_root(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{toy}: 0 of 5 stages are up to date"
    assert lines[1].split()[0] == "ingest"
    assert "data/sample modified, params.yaml new" in lines[1]
    assert not (toy / "dvc.lock").exists()
    assert (toy / ".dvc/tmp/site/repo").is_dir()  # not in /var/tmp, which all users share
    command += ["--profile", "other"]
    done = subprocess.run(command, cwd=toy, env=_with_root(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "`rolecall retrain --profile other`" in done.stderr
    (toy / "params.yaml").write_text("mix: [")
    done = subprocess.run(command[:-2], cwd=toy, env=_with_root(), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("\nerror: DVC: ")
    assert "params.yaml" in done.stderr
    assert len(done.stderr.splitlines()) <= 10


@pytest.mark.slow
def test_bad_values_are_found_before_anything_starts(toy: Path, own_server: dict[str, str]) -> None:
    params = toy / "params.yaml"
    params.write_text(params.read_text().replace("top_k: 5", "top_k: 0"))
    command = [*ROLECALL, "retrain"]
    done = subprocess.run(command, cwd=toy, env=own_server, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "\nerror: params.yaml: register.top_k\n"
    assert not (toy / "logs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_after_a_signal(
    toy: Path, own_server: dict[str, str], sign: signal.Signals
) -> None:
    """End the flow in a stage: neither the stage nor Prefect's server goes on."""
    (toy / "sleep.txt").write_text("ingest")
    process = subprocess.Popen(
        [*ROLECALL, "retrain"],
        cwd=toy,
        env=own_server,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until(lambda: (toy / "pid.txt").exists())
    assert len(_below(toy)) > 2
    process.send_signal(sign)
    printed, _ = process.communicate()
    until(lambda: not _below(toy))
    if sign != signal.SIGKILL:
        assert process.returncode == 128 + sign
        assert printed.splitlines()[-1] == ("interrupted: run the same command again to continue")
        assert "Traceback" not in printed


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
    until(lambda: not _below(toy))
    assert "Traceback" not in log.read_text()


def until(is_so: Callable[[], bool], seconds: float = 120) -> None:
    """Wait; fail when it does not come."""
    limit = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.1)


def _below(folder: Path) -> list[int]:
    """List the processes that work in a folder."""
    numbers = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder):
                numbers.append(int(process.name))
        except OSError:
            continue
    return numbers


def _with_root() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.thorough
def test_init_ends_with_the_command_that_corrects_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repeat the options as they were typed, so that the line can be copied."""
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "profiles").mkdir()
    (tmp_path / "tasks").symlink_to(ROOT / "tasks")
    (tmp_path / "models").symlink_to(ROOT / "models")
    rows = ["id,title,x", "1,cook,a", "1,chef,b", "2,nurse,c", "2,night nurse,d"]
    (tmp_path / "my titles.csv").write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["init", "mine", "--taxonomy", "my titles.csv", "--column", "title=title"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-2:] == [
        "next: rolecall retrain --profile mine",
        "to correct a column: rolecall init mine --taxonomy 'my titles.csv' --column=title=title "
        "--force --column ROLE=COLUMN",
    ]
    assert CliRunner().invoke(app, words).exit_code == 1
    assert CliRunner().invoke(app, [*words[:-2], "--force", "--column", "title=x"]).exit_code == 0
    assert 'title: "x"' in (tmp_path / "profiles/mine.yaml").read_text(encoding="utf-8")
