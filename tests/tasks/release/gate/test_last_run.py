"""What is remembered of a bulk run, and when it cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.io.bulk_output import MANIFEST
from tasks.io.frames import write_json
from tasks.release.gate import last_run as lasting
from tasks.release.gate.last_run import LAST, TITLES, last_run, remember

SPLITS = [["nurse", "cook", None, "nurse"], ["cook", "nurse", "baker"], ["", "abbot"]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root without git, so that it is its own main tree."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A folder as a bulk run leaves it, in three parts; its name reads like a pattern."""
    return written(tmp_path / "out [1]*")


def written(folder: Path, model: str = "models:/toy/3", **changes: Any) -> Path:
    folder.mkdir()
    parts = []
    for number, titles in enumerate(SPLITS):
        name = f"part-0000-{number:05}.parquet"
        pl.DataFrame({"headline": titles}, schema={"headline": pl.String}).write_parquet(
            folder / name
        )
        parts.append({"name": name, "rows": len(titles)})
    result = {"model": model, "column": "headline", "params": {"code_depth": 1}}
    write_json({"result": result, "parts": parts, "rows": 9} | changes, folder / MANIFEST)
    return folder


def test_titles_stand_with_their_rows_the_most_frequent_first(root: Path, output: Path) -> None:
    """Nurse 2 + 1, cook 1 + 1, one each of three; equal ones by the title, the null is a row."""
    remember(root, output)
    run = last_run(root, "toy")
    assert run is not None
    assert (run.model, run.params) == ("models:/toy/3", {"code_depth": 1})
    assert (run.rows, run.read_rows) == (9, 9)
    assert run.titles.rows() == [("nurse", 3), ("cook", 2), ("", 1), ("abbot", 1), ("baker", 1)]
    assert run.rows_of(["cook", "cook", "pilot", "nurse"]) == {"cook": 2, "nurse": 3}


def test_runs_have_digits_of_their_own(root: Path, output: Path) -> None:
    digits = []
    for folder in (output, output, written(root / "next", model="models:/toy/4")):
        remember(root, folder)
        run = last_run(root, "toy")
        assert run is not None
        digits.append(run.digits)
    assert digits[0] == digits[1] != digits[2]


def test_of_a_long_run_every_second_part_is_read(
    root: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two parts of three at most: the first and the third, of four rows and two."""
    monkeypatch.setattr(lasting, "PARTS", 2)
    remember(root, output)
    run = last_run(root, "toy")
    assert run is not None and (run.rows, run.read_rows) == (9, 6)
    assert run.titles.rows() == [("nurse", 2), ("", 1), ("abbot", 1), ("cook", 1)]


def test_a_run_without_rows_has_no_titles(root: Path) -> None:
    remember(root, written(root / "out", parts=[], rows=0))
    run = last_run(root, "toy")
    assert run is not None and (run.rows, run.read_rows) == (0, 0)
    assert dict(run.titles.schema) == dict(TITLES) and run.titles.is_empty()


def test_runs_of_no_version_are_not_noted(root: Path) -> None:
    remember(root, written(root / "out", model="/a/folder/of/a/model"))
    assert not (root / LAST).exists()
    assert last_run(root, "toy") is None


def test_a_later_run_takes_the_place_of_its_models_and_of_no_other(root: Path) -> None:
    for name, model in (("a", "models:/toy/3"), ("b", "models:/other/1"), ("c", "models:/toy/4")):
        remember(root, written(root / name, model=model))
    run, other = last_run(root, "toy"), last_run(root, "other")
    assert run is not None and run.model == "models:/toy/4"
    assert other is not None and other.model == "models:/other/1"
    overrides = json.loads((root / LAST / "toy.json").read_text())
    assert overrides["output"] == str(root / "c")


def gone(output: Path) -> None:
    output.rename(output.with_name("elsewhere"))


def made_anew(output: Path) -> None:
    gone(output)
    written(output, model="models:/toy/5")


def with_a_shorter_part(output: Path) -> None:
    shorter = pl.DataFrame({"headline": ["cook"]})
    shorter.write_parquet(output / "part-0000-00001.parquet")


def with_a_damaged_part(output: Path) -> None:
    (output / "part-0000-00001.parquet").write_text("no Parquet")


@pytest.mark.parametrize("change", [gone, made_anew, with_a_shorter_part, with_a_damaged_part])
def test_a_folder_that_has_changed_is_not_used(
    root: Path, output: Path, change: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    remember(root, output)
    change(output)
    assert last_run(root, "toy") is None
    assert "the last bulk run of toy cannot be read: " in capsys.readouterr().out


def test_a_run_does_not_fail_where_nothing_can_be_noted(
    root: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / LAST.parent).write_text("a file, where a folder should be")
    remember(root, output)
    assert "the last run could not be noted" in capsys.readouterr().out
