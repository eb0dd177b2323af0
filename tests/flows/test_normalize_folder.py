"""The due files of a watched folder; a file that fails keeps no other from being done."""

import json
import os
import time
from pathlib import Path
from typing import Any

import fsspec
import pytest

from flows import normalize_folder as module
from flows.errors import Failure
from flows.normalize_folder import due_sources
from tasks.apps.bulk.inspection import files_at, state_of
from tasks.io.bulk_output import manifest_of

OLD = 3600
MANIFEST: dict[str, Any] = {
    "rows": 2417,
    "parts": [{}],
    "answered": 2000,
    "abstained": {"low confidence": 410, "unreadable": 7},
    "refused": 0,
    "result": {"model": "models:/toy/1", "model_version": "1", "taxonomy_version": "abc"},
}


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
    manifest = {"result": {"state": state_of(files), "model": "m"}, "rows": rows}
    (output if source.is_dir() else output.parent).mkdir(parents=True, exist_ok=True)
    if not source.is_dir():
        output.write_text("answers")
    manifest_of(output).write_text(json.dumps(manifest))


def due(inbox: Path, seconds: float = 60) -> list[tuple[Path, Path]]:
    """The due sources; none is refused, and whether one waits does not matter."""
    refused: list[str] = []
    outbox = inbox.parent / "outbox"
    sources = due_sources(inbox, outbox, seconds, refused.append, lambda name: None)
    assert not refused
    return sources


def names(inbox: Path, seconds: float = 60) -> list[str]:
    return [output.name for _, output in due(inbox, seconds)]


def test_all_that_is_new_is_due_a_file_as_a_file_and_a_folder_as_a_folder(inbox: Path) -> None:
    for name in ("a.tsv", "b.PQ", "c.csv.gz", "D.CSV", "board.csv", "README.md"):
        (inbox / name).write_text("title\n")
    (inbox / "e.csv").mkdir()
    (inbox / "e.csv/e.csv").write_text("title\n")
    assert sorted(names(inbox)) == [
        *("D.CSV", "a.tsv.csv", "b.PQ.parquet", "board", "board.csv", "c.csv.gz.csv"),
        *("e.csv.parts", "titles.csv"),
    ]


def test_what_must_not_be_opened_is_named_and_stops_no_other(inbox: Path) -> None:
    """A pipe and a device would never end; links would give out any file."""
    outside = inbox.parent / "secret.csv"
    outside.write_text("title\nsecret\n")
    os.mkfifo(inbox / "pipe.csv")
    (inbox / "zero.csv").symlink_to("/dev/zero")
    (inbox / "secret.csv").symlink_to(outside)
    (inbox / "gone.csv").symlink_to(inbox / "nowhere.csv")
    (inbox / "everything").symlink_to(inbox.parent)
    (inbox / "sub").mkdir()
    (inbox / "sub/passwd.csv").symlink_to("/etc/passwd")
    (inbox / "sub/good.csv").write_text("title\n")
    (inbox / "same.csv").symlink_to(inbox / "titles.csv")
    refused: list[str] = []
    waiting: list[str] = []
    outbox = inbox.parent / "outbox"
    sources = due_sources(inbox, outbox, 60, refused.append, waiting.append)
    assert not waiting
    assert [source.name for source, _ in sources] == ["board", "same.csv", "titles.csv"]
    texts = "\n".join(refused)
    assert len(refused) == 6
    for text in (
        "everything is a link that leads out of",
        "gone.csv is a link to nothing",
        "pipe.csv is a pipe: copy the file itself, or take it out",
        "/secret.csv is a link that leads out of",
        "sub/passwd.csv is a link that leads out of",
        "zero.csv is a link that leads out of",
    ):
        assert text in texts


def test_a_replaced_file_is_due_once_under_a_name_of_its_own(inbox: Path) -> None:
    for source, output in due(inbox):
        made(source, output)
    assert names(inbox) == []
    (inbox / "titles.csv").write_text("title\nnurse\ncook\n")
    (again,) = due(inbox)
    name, state, ending = again[1].name.split(".")
    assert (name, ending) == ("titles", "csv") and len(state) == 16
    assert [again] == due(inbox)
    made(*again)
    assert names(inbox) == []
    (inbox / "board/c.parquet").write_text("x")
    (anew,) = names(inbox)
    assert anew.startswith("board.")


def test_a_file_that_is_being_written_waits_and_is_named(inbox: Path) -> None:
    """By its name, or because it changed a moment ago, even if it brings an old date along."""

    def waiting(seconds: float) -> list[str]:
        names: list[str] = []
        due_sources(inbox, inbox.parent / "outbox", seconds, print, names.append)
        return names

    for name in (".hidden.csv", "new.csv.part", "_own.csv"):
        (inbox / name).write_text("title\n")
    (inbox / "board/c.parquet.tmp").write_text("half")
    assert (names(inbox), waiting(60)) == (["titles.csv"], ["board"])
    (inbox / "board/c.parquet.tmp").unlink()
    os.utime(inbox / "titles.csv", (0, 0))
    assert (names(inbox, OLD + 60), waiting(OLD + 60)) == ([], ["board", "titles.csv"])
    (inbox / "empty").mkdir()
    assert (names(inbox), waiting(60)) == (["board", "titles.csv"], [])


def test_an_output_is_completed_by_the_model_that_began_it(inbox: Path) -> None:
    output = inbox.parent / "outbox/titles.csv"
    assert module._model(output, "models:/toy@champion") == "models:/toy@champion"
    plan = inbox.parent / "outbox/titles.csv.unfinished/plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(json.dumps({"model": "models:/toy/3"}))
    assert module._model(output, "models:/toy@champion") == "models:/toy/3"


def test_folders_that_cannot_be_meant_are_refused(inbox: Path) -> None:
    with pytest.raises(Failure, match=r"no folder .*nowhere to watch: make it, or name"):
        due(inbox.parent / "nowhere")
    with pytest.raises(Failure, match="name another outbox"):
        due_sources(inbox, inbox / "answers", 60, print, print)


@pytest.mark.slow
def test_one_bad_file_stops_no_other_and_is_named_at_the_end(
    inbox: Path, prefect_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.artifacts import Artifact

    calls: list[tuple[str, str, Path, dict[str, Any]]] = []

    def normalized(
        source: Path, output: Path, model: str, root: Path, options: dict[str, Any]
    ) -> dict[str, Any]:
        calls.append((source.name, model, root, options))
        if source.name == "board":
            raise ValueError("a.parquet cannot be read")
        made(source, output)
        return MANIFEST

    monkeypatch.setattr(module, "_normalized", normalized)
    monkeypatch.chdir(inbox.parent)
    Path("params.yaml").write_text("register: {name: toy}\n")
    message = r"^1 of inbox not normalized\nboard: a\.parquet cannot be read$"
    with pytest.raises(Failure, match=message):
        module.normalize_folder(options={"top_k": 2})
    champion, here = "models:/toy@champion", Path.cwd()
    assert calls == [(name, champion, here, {"top_k": 2}) for name in ("board", "titles.csv")]
    page = Artifact.get("normalize-folder")
    assert page is not None and "| titles.csv | 2,417 |" in str(page.data)
    left = Artifact.get("failed-normalize-folder")
    assert left is not None and "    board: a.parquet cannot be read\n" in str(left.data)

    monkeypatch.setattr(module, "_normalized", lambda *arguments: MANIFEST)
    assert module.normalize_folder() == {"board": 2417}
