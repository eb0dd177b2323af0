"""Every path and command that docs and code name exists. Changelog and log are history."""

import re
from pathlib import Path

import pytest
import typer

from flows.cli import app
from models.network.kinds import kinds

ROOT = Path(__file__).parents[2]
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(ROOT / name for name in ("feedback/README.md", "inbox/README.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "LOG.md"),
)
CODE_FOLDERS = ("benchmarks", "flows", "models", "tasks")
FOLDERS = "benchmarks|docs|examples|flows|models|results|tasks|tests"
CODE = re.compile(r"^```\w*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
TARGETS = set(re.findall(r"^([a-z.-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code_lines(page: Path) -> list[str]:
    """The lines of code blocks, and code within text; figures name commands of earlier commits."""
    text = re.sub(r"<!-- figures:begin.*?figures:end", "", page.read_text("utf-8"), flags=re.DOTALL)
    return [
        line.strip()
        for block, inline in CODE.findall(text)
        for line in (block or inline).splitlines()
    ]


def exists(path: str) -> bool:
    """Look a path up; NAME, STUDY and * in it stand for any name."""
    return any(ROOT.glob(re.sub("NAME|STUDY", "*", path).rstrip("/.")))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_paths_exist(page: Path) -> None:
    for line in code_lines(page):
        for path in re.findall(rf"(?<![\w./-])(?:{FOLDERS})/[\w./*-]*", line):
            assert exists(path), path


def test_paths_in_docstrings_and_messages_exist() -> None:
    modules = [path for package in CODE_FOLDERS for path in (ROOT / package).rglob("*.py")]
    named = {
        (page_name(module), path)
        for module in modules
        for path in re.findall(rf"`((?:{FOLDERS})/[\w./*-]+)", module.read_text(encoding="utf-8"))
    }
    assert {pair for pair in named if not exists(pair[1])} == set()
    assert len(named) > 50


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_exist(page: Path) -> None:
    for line in code_lines(page):
        for name, rest in re.findall(r"(?:^|\$\()rolecall ([a-z][a-z-]*)([^)#|]*)", line):
            options = {option for param in COMMANDS[name].params for option in param.opts}
            assert set(re.findall(r"--[a-z-]+", rest)) <= {*options, "--help"}, line
        for target in re.findall(r"^make ([a-z.-]+)", line):
            assert target in TARGETS, line


def test_the_design_lists_every_encoder_and_loss() -> None:
    text = (
        (ROOT / "docs/design/training.md").read_text(encoding="utf-8").partition("## Features")[0]
    )
    listed = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(listed) == sorted([*kinds("encoders"), *kinds("losses")])
