"""The README stays short, and its links lead to files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = 120
TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "feedback/README.md", "inbox/README.md")


def test_the_readme_is_short_and_has_its_generated_blocks() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    for block in ("answers", "benchmark"):
        assert re.search(rf"<!-- {block}:begin -->\n\|.*\n<!-- {block}:end -->", text, re.DOTALL)


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_to_files(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (ROOT / name).parent.joinpath(target).exists(), target


def test_pre_commit_runs_the_checks_of_make_lint() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe
    checks = [
        line.strip().removeprefix("@").replace("$(BIN)", ".venv/bin")
        for line in recipe[1].splitlines()
    ]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: (.*)", hooks) == checks
