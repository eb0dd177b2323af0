"""The due files of a watched folder; a file that fails keeps no other from being done."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import fsspec
import pytest

from flows import normalize_folder as module
from flows.failure import Failure, StageFailed
from flows.normalize_folder import due_sources
from tasks.apps.bulk.files import files_at, state_of

OLD = 3600


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """A CSV file and a folder of Parquet, which nobody writes any more."""
    (tmp_path / "inbox" / "board").mkdir(parents=True)
    for name in ("titles.csv", "board/a.parquet", "board/b.parquet"):
        (tmp_path / "inbox" / name).write_text("title\nnurse\n")
    return tmp_path / "inbox"


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an hour have passed: the change of a file's node cannot be dated back."""
    monkeypatch.setattr(module.time, "time", lambda clock=time.time: clock() + OLD)


def made(source: Path, output: Path, rows: int = 1) -> None:
    """Write the manifest of a bulk run, as far as it is read here."""
    files = tuple(files_at(*fsspec.core.url_to_fs(str(source)), str(source)))
    output.mkdir(parents=True)
    manifest = {"result": {"state": state_of(files), "model": "m"}, "rows": rows}
    (output / "manifest.json").write_text(json.dumps(manifest))


def names(inbox: Path, seconds: float = 60) -> list[str]:
    return [output.name for _, output in due_sources(inbox, inbox.parent / "outbox", seconds)]


def test_all_that_is_new_is_due_under_its_whole_name(inbox: Path) -> None:
    (inbox / "board.csv").write_text("title\ncook\n")
    (inbox / "titles.parquet").write_text("x")
    (inbox / "README.md").write_text("no table")
    assert names(inbox) == ["board", "board.csv", "titles.csv", "titles.parquet"]


def test_a_finished_source_is_not_due_again(inbox: Path) -> None:
    for due in due_sources(inbox, inbox.parent / "outbox", 60):
        made(*due)
    assert names(inbox) == []


def test_a_replaced_file_is_due_once_under_a_name_of_its_own(inbox: Path) -> None:
    outbox = inbox.parent / "outbox"
    for due in due_sources(inbox, outbox, 60):
        made(*due)
    (inbox / "titles.csv").write_text("title\nnurse\ncook\n")
    (again,) = due_sources(inbox, outbox, 60)
    kind, _, state = again[1].name.rpartition(".")
    assert kind == "titles.csv" and len(state) == 16
    assert [again] == due_sources(inbox, outbox, 60)
    made(*again)
    assert names(inbox) == []
    (inbox / "board/c.parquet").write_text("x")
    (anew,) = names(inbox)
    assert anew.startswith("board.")


def test_a_file_that_is_being_written_waits(inbox: Path) -> None:
    """By its name, or because it changed a moment ago, even if it brings an old date along."""
    for name in (".hidden.csv", "new.csv.part", "_own.csv"):
        (inbox / name).write_text("title\n")
    (inbox / "board/c.parquet.tmp").write_text("half")
    assert names(inbox) == ["titles.csv"]
    (inbox / "board/c.parquet.tmp").unlink()
    assert names(inbox, OLD + 60) == []
    os.utime(inbox / "titles.csv", (0, 0))
    assert names(inbox, OLD + 60) == []
    (inbox / "empty").mkdir()
    (inbox / "gone.csv").symlink_to(inbox / "nowhere.csv")
    assert names(inbox) == ["board", "titles.csv"]


def test_an_output_is_completed_by_the_model_that_began_it(inbox: Path) -> None:
    output = inbox.parent / "outbox/titles.csv"
    assert module._model(output, "models:/toy@champion") == "models:/toy@champion"
    plan = inbox.parent / "outbox/titles.csv.unfinished/plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(json.dumps({"model": "models:/toy/3"}))
    assert module._model(output, "models:/toy@champion") == "models:/toy/3"


def test_folders_that_cannot_be_meant_are_refused(inbox: Path) -> None:
    with pytest.raises(Failure, match=r"no folder .*nowhere to watch: make it, or name"):
        due_sources(inbox.parent / "nowhere", inbox.parent / "outbox", 60)
    with pytest.raises(Failure, match="name another outbox"):
        due_sources(inbox, inbox / "answers", 60)


@pytest.mark.slow
def test_one_bad_file_stops_no_other_and_is_named_at_the_end(
    inbox: Path, prefect_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.artifacts import Artifact

    calls: list[tuple[Path, str, str]] = []

    def normalized(root: Path, source: str, output: str, *options: Any) -> dict[str, int]:
        calls.append((root, Path(source).name, Path(output).name))
        if source.endswith("board"):
            raise StageFailed("normalize failed\na.parquet cannot be read")
        made(Path(source), Path(output))
        return {"rows": 1234}

    monkeypatch.setattr(module, "normalize_in", normalized)
    monkeypatch.chdir(inbox.parent)
    message = r"^1 of inbox not normalized\nboard: normalize failed\na\.parquet cannot be read$"
    with pytest.raises(Failure, match=message):
        module.normalize_folder()
    here = Path.cwd()
    assert calls == [(here, "board", "board"), (here, "titles.csv", "titles.csv")]
    page = Artifact.get("normalize-folder")
    assert page is not None and "| titles.csv | 1,234 |" in str(page.data)
    left = Artifact.get("failed-normalize-folder")
    assert left is not None and "    board: normalize failed\n" in str(left.data)

    monkeypatch.setattr(module, "normalize_in", lambda *arguments: {"rows": 7})
    assert module.normalize_folder() == {"board": 7}
