"""Places that a run must not write to, and workbooks without room."""

from pathlib import Path

import pytest

from tasks.apps.bulk import normalize
from tasks.apps.bulk.normalize import require_place, require_room
from tasks.apps.bulk.source import TitleSource
from tasks.apps.unfinished import OutputError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.csv", "in/deep/b.csv", "out.unfinished/c.csv", "single.refused.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("title\n")
    (tmp_path / "link").symlink_to("in")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "output", "message"),
    [
        ("in", "in/answers", "lies in the input folder"),
        ("in", "in/answers.csv", "lies in the input folder"),
        ("in", "link/deep/answers", "lies in the input folder"),
        (".", "answers", "lies in the input folder"),
        ("in/deep/b.csv", "in", "holds the input"),
        ("in/a.csv", "in/a.csv", "holds the input"),
        ("out.unfinished/c.csv", "out", "holds the input"),
        ("single.refused.csv", "single.csv", "holds the input"),
        ("in", "answers.tsv", r"no \.tsv file can be written; let the name end in \.parquet"),
        ("in", "answers.csv.gz", r"no \.gz file can be written"),
    ],
)
def test_refused(here: Path, source: str, output: str, message: str) -> None:
    with pytest.raises(OutputError, match=message):
        require_place(here / output, source)


def test_taken(here: Path) -> None:
    before = sorted(here.rglob("*"))
    require_place(here / "in/answers.csv", "in/a.csv")
    for output in ("answers", "answers.2026-11", "input"):
        require_place(here / output, "in")
    require_place(here / "in2", "memory://in")
    assert sorted(here.rglob("*")) == before


def test_a_sheet_has_room_or_the_run_does_not_start(tmp_path, monkeypatch) -> None:
    """Six rows and the header: the length of the first lines says half of them, so all count."""
    monkeypatch.setattr(normalize, "EXCEL_ROWS", 6)
    (tmp_path / "in.csv").write_text("title\n" + "nurse\n" * 6)
    source = TitleSource.find(str(tmp_path / "in.csv"))
    with pytest.raises(OutputError, match=r"6 rows of .* room for 5 of .* \.csv or \.parquet"):
        require_room(tmp_path / "out.xlsx", source)
    require_room(tmp_path / "out.csv", source)
    monkeypatch.setattr(normalize, "EXCEL_ROWS", 7)
    require_room(tmp_path / "out.xlsx", source)
