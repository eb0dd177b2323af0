"""Every path, link, command and profile that docs and code name exists; changelog and log aside."""

import re
from pathlib import Path

import pytest
import typer

from flows.cli import app
from flows.profiles import read_profile
from models.network.kinds import kinds

ROOT = Path(__file__).parents[2]
TEXTS = ("README.md", "CONTRIBUTING.md", "feedback/README.md", "inbox/README.md")
DOCS = (path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "LOG.md")
PAGES = (*(ROOT / name for name in TEXTS), *DOCS)
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
    text = (ROOT / "docs/design/training.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text.partition("## Features")[0], re.MULTILINE)
    assert sorted(listed) == sorted([*kinds("encoders"), *kinds("losses")])


def test_the_readme_is_short_and_has_its_generated_blocks() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    for block in ("answers", "benchmark"):
        assert re.search(rf"<!-- {block}:begin -->\n\|.*\n<!-- {block}:end -->", text, re.DOTALL)


@pytest.mark.parametrize("name", [*TEXTS, "CHANGELOG.md"])
def test_links_lead_to_files(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text(encoding="utf-8")):
        assert "://" in target or (ROOT / name).parent.joinpath(target).exists(), target


def test_pre_commit_runs_the_checks_of_make_lint() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    lines = recipe.replace("\t", "").replace("@", "").replace("$(BIN)", ".venv/bin").splitlines()
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: (.*)", hooks) == [line.strip() for line in lines]


GUIDE = ROOT / "docs/guides/index.md"
PROFILES = sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))


def rows() -> dict[str, list[str]]:
    """Return all rows of the tables of "Which profile do I need?" by their first cell."""
    lines = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {first: rest for first, *rest in cells}


def test_every_profile_has_a_row_and_no_other_has() -> None:
    named = [name for cell in rows() for name in re.findall(r"^`(\w+)`$", cell)]
    assert sorted(named) == PROFILES


@pytest.mark.parametrize("profile", PROFILES)
def test_a_row_names_the_folders_of_its_files_and_each_has_an_address(profile: str) -> None:
    _, external = read_profile(ROOT / "profiles", profile)
    sources = [source for source in external.values() if not source.startswith("./")]
    folders = sorted({f"`{source.split('/')[0]}/`" for source in sources})
    files = rows()[f"`{profile}`"][1]
    assert sorted(re.findall(r"`\w+/`", files)) == folders
    for folder in folders:
        download, megabytes = rows()[folder]
        assert "](https://" in download
        assert megabytes.isdigit()
    names = [Path(source).name for source in sources if "." in Path(source).name]
    downloads = " ".join(rows()[folder][0] for folder in folders)
    assert [name for name in names if name not in downloads] == []


def test_an_accuracy_stands_on_the_page_that_it_links_to() -> None:
    for first, cells in rows().items():
        pages = re.findall(r"\]\((\.\./[^)#]+)", cells[-1])
        text = " ".join((GUIDE.parent / page).read_text(encoding="utf-8") for page in pages)
        for figure in re.findall(r"0(\.\d+)", cells[-1]):
            assert figure in text, (first, figure)
    for profile in PROFILES:
        accuracy = rows()[f"`{profile}`"][4]
        assert accuracy.startswith("not measured") or "](../" in accuracy, profile
