"""The table "Which profile do I need?" has every profile, its files, and where they come from."""

import re
from pathlib import Path

import pytest

from flows.profiles import read_profile

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guides/index.md"
PROFILES = sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))


def rows() -> dict[str, list[str]]:
    """Return all rows of the page's tables by their first cell."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
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
        text = " ".join((PAGE.parent / page).read_text(encoding="utf-8") for page in pages)
        for figure in re.findall(r"0(\.\d+)", cells[-1]):
            assert figure in text, (first, figure)
    for profile in PROFILES:
        accuracy = rows()[f"`{profile}`"][4]
        assert accuracy.startswith("not measured") or "](../" in accuracy, profile
