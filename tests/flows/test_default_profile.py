"""Without --profile every command works on ESCO; `sample` is the main tree."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.project_root import MARKS, existing_root, project_root
from flows.failure import Failure
from flows.workspaces.workspace import existing_root_of, root_of

ROOT = Path(__file__).parents[2]
GROUP: Any = typer.main.get_command(app)
OPTIONS = {
    name: option
    for name, command in GROUP.commands.items()
    for option in command.params
    if option.name == "profile"
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with a commit and a pipeline's marks, and change to it."""
    root = tmp_path.resolve() / "clone"
    root.mkdir()
    for mark in MARKS:
        (root / mark).touch()
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init"], [*name, "commit", "--allow-empty", "--message=first"]):
        subprocess.run(["git", *words, "--quiet"], cwd=root, check=True)
    monkeypatch.chdir(root)
    return root


def test_every_command_that_reads_a_data_set_has_the_option() -> None:
    without = {"init", "schedule", "notify", "benchmark"}
    assert {*OPTIONS} == {*GROUP.commands} - without


@pytest.mark.parametrize("command", sorted(OPTIONS))
def test_the_default_is_esco_unless_the_environment_names_another(command: str) -> None:
    """But Table 3 is the sample's in any environment: six networks on ESCO take hours."""
    option, context = OPTIONS[command], typer.Context(GROUP.commands[command])
    own = command == "reproduce"
    assert option.default == ("sample" if own else "esco")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ROLECALL_PROFILE")
        assert option.consume_value(context, {})[0] == option.default
        patch.setenv("ROLECALL_PROFILE", "")
        assert option.consume_value(context, {})[0] == option.default
        patch.setenv("ROLECALL_PROFILE", "mine")
        assert option.consume_value(context, {})[0] == ("sample" if own else "mine")
        assert option.consume_value(context, {"profile": "other"})[0] == "other"


def test_the_sample_is_the_main_tree_and_esco_says_what_trains_it(clone: Path) -> None:
    assert existing_root("sample") == existing_root_of("sample") == root_of("sample") == clone
    assert root_of("") == clone
    said = "`rolecall retrain --profile esco` trains its model in a quarter.*`--profile sample`"
    with pytest.raises(Failure, match=said):
        existing_root("esco")
    (clone / "profiles").mkdir()
    (clone / "profiles/other.yaml").touch()
    with pytest.raises(Failure, match=r"no profile 'mine' in .*; there are: other$"):
        existing_root("mine")
    (clone / "profiles/mine.yaml").touch()
    with pytest.raises(Failure, match=r"`rolecall retrain --profile mine` trains its model$"):
        existing_root("mine")


def test_in_a_workspace_a_command_works_as_in_the_clone(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = clone / ".workspaces/mine/data"
    below.mkdir(parents=True)
    for mark in MARKS:
        (below.parent / mark).touch()
    monkeypatch.chdir(below)
    assert project_root() == existing_root("sample") == clone
    assert existing_root("mine") == below.parent


def test_a_command_without_a_model_of_its_own_says_so(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROLECALL_PROFILE")
    titles = clone / "in.csv"
    titles.write_text("title\nnurse\n")
    monkeypatch.setattr("flows.commands.answers.run_flow", None)
    for words in (
        *(["status"], ["models"], ["rollback"], ["ask", "nurse"], ["serve"]),
        *(["normalize", str(titles), "out"], ["review", "out", "queue"]),
    ):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 1, words
        assert "profile esco has not run here yet" in result.output, words
    assert not (clone / ".workspaces").exists()


@pytest.mark.thorough
def test_a_named_model_answers_whatever_has_run(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No profile is needed, and the address of the registry, which all share, needs none either."""
    calls = list[tuple[object, ...]]()
    monkeypatch.delenv("ROLECALL_PROFILE")
    monkeypatch.setattr("os.execv", lambda _, words: calls.append(tuple(words)))
    monkeypatch.setattr("flows.commands.answers.run_flow", lambda *_: nullcontext())
    monkeypatch.setattr("flows.normalize.normalize", lambda *words: calls.append(words))
    monkeypatch.setattr("flows.normalize.facts", lambda *_: {"rows": "1"})
    (clone / "params.yaml").write_text("ingest: {}")
    (clone / "in.csv").write_text("title\nnurse\n")
    model = "--model=models:/mine/1"
    for words in (["ask", "nurse"], ["serve"], ["normalize", "in.csv", "out"]):
        result = CliRunner().invoke(app, [*words, model])
        assert result.exit_code == 0, result.output
    asked, served, normalized = calls
    assert model in asked and model in served
    assert normalized[-1] == "sample" and model.endswith(str(normalized[2]))
    assert CliRunner().invoke(app, ["models", "--address"]).output.startswith("sqlite:")


@pytest.mark.thorough
def test_names_that_are_taken_are_refused(clone: Path) -> None:
    for folder in ("profiles", "tasks", "models"):
        (clone / folder).symlink_to(ROOT / folder)
    shutil.copy(ROOT / "params.yaml", clone)
    (clone / "titles.csv").write_text("id,title\n1,cook\n1,chef\n2,nurse\n2,night nurse\n")
    for name, said in (("sample", "the embedded example"), ("esco", "esco.yaml exists")):
        result = CliRunner().invoke(app, ["init", name, "--taxonomy", "titles.csv"])
        assert result.exit_code == 1
        assert said in result.output
