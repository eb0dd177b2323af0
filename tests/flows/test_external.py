"""Sources of external files: four ways to name one, and the message if it is missing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from flows.workspaces.external import require_files, resolve_sources
from flows.workspaces.profiles import ProfileError


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """Make a main tree with a file in it, one beside it, and one below the folder of the data."""
    for name in ("clone/own/titles.csv", "beside.csv", "data/esco/occupations.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path / "clone"


def test_four_ways_to_name_a_source(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None depends on where the command was called; only the last needs ROLECALL_DATA."""
    monkeypatch.chdir(main / "own")
    beside = str(main.parent / "beside.csv")
    own = {"a": beside, "b": "./own/titles.csv", "c": "s3://bucket/x.csv", "d": "./../beside.csv"}
    expected = {"a": beside, "b": f"{main}/own/titles.csv", "c": "s3://bucket/x.csv", "d": beside}
    assert resolve_sources(own, None, main) == expected
    below = {"e": "esco/occupations.csv"}
    for data in ("../data", str(main.parent / "data")):
        assert resolve_sources(below, data, main) == {
            "e": f"{main.parent}/data/esco/occupations.csv"
        }
    assert resolve_sources(below, "https://host/", main) == {
        "e": "https://host/esco/occupations.csv"
    }


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("/no/where.csv", None, "no file or folder /no/where.csv: correct the line `n: /no/where"),
        ("./no.csv", None, "no file or folder .*/clone/no.csv: correct the line `n: ./no.csv`"),
        ("x.csv", None, "set ROLECALL_DATA .*docs/SOURCES.md.*by its absolute path"),
        ("x.csv", "../data", "no file or folder .*/data/x.csv; ROLECALL_DATA is '../data'.*absol"),
    ],
)
def test_a_missing_source_is_refused_with_advice(
    main: Path, path: str, data: str | None, message: str
) -> None:
    with pytest.raises(ProfileError, match=message):
        resolve_sources({"n": path}, data, main)


@pytest.mark.parametrize("source", ["./own/pipe.csv", "./own"])
def test_a_pipe_is_named_before_dvc_opens_it(main: Path, source: str) -> None:
    """In a folder DVC waited for it without end."""
    os.mkfifo(main / "own/pipe.csv")
    message = rf"^n cannot be imported: {main}/own/pipe\.csv is a pipe; take it out$"
    with pytest.raises(ProfileError, match=message):
        resolve_sources({"n": source}, None, main)


@pytest.mark.parametrize(
    "source",
    [
        "s3://key:secret@bucket/x.csv",
        "https://secret@host/x.csv",
        "https://host/x.csv?X-Amz-Signature=secret",
        "https://host/x.csv?v=1&access_token=secret",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(main: Path, source: str) -> None:
    """DVC would write it into `data/NAME.dvc`."""
    with pytest.raises(ProfileError, match=r"AWS_ACCESS_KEY_ID.*remote://NAME/n$") as error:
        resolve_sources({"n": source}, None, main)
    assert "secret" not in str(error.value)
    below = {"n": "x.csv"}
    with pytest.raises(ProfileError, match="holds a password"):
        resolve_sources(below, "https://me:secret@host/", main)
    plain = {"n": "ssh://git@host/x.csv", "m": "https://host/x.csv?download=1"}
    assert resolve_sources(plain, None, main) == plain


@pytest.mark.parametrize("name", ["a/b.csv", "a: b.csv", "a\\b.csv", "..", "", "ü" * 121])
def test_a_name_that_dvc_cannot_read_is_refused(main: Path, name: str) -> None:
    with pytest.raises(ProfileError, match="is no name in data/external"):
        resolve_sources({name: "./own/titles.csv"}, None, main)


def params(folder: str = "data/external", synonyms: str = "") -> dict[str, Any]:
    taxonomy = {"files": {"titles": "titles.csv"}}
    ingest = {"folder": folder, "taxonomy": taxonomy, "inputs": {"file": "raw.csv"}}
    return {"ingest": ingest, "synonyms": {"folder": folder, "file": synonyms}}


def test_a_file_that_the_workspace_lacks_is_refused(tmp_path: Path) -> None:
    for name in ("titles.csv", "raw.csv"):
        (tmp_path / "data/external").mkdir(parents=True, exist_ok=True)
        (tmp_path / "data/external" / name).touch()
    require_files(tmp_path, params(), tmp_path / "main")
    (tmp_path / "data/external/raw.csv").unlink()
    with pytest.raises(ProfileError, match=r"ingest\.inputs\.file names data/external/raw\.csv"):
        require_files(tmp_path, params(), tmp_path / "main")


def test_a_file_of_the_clone_alone_is_refused_with_the_line_that_brings_it(tmp_path: Path) -> None:
    main, workspace = tmp_path / "main", tmp_path / "workspace"
    (main / "data/mine").mkdir(parents=True)
    (main / "data/mine/titles.csv").touch()
    with pytest.raises(ProfileError) as error:
        require_files(workspace, params("data/mine"), main)
    message = str(error.value)
    assert message.startswith("ingest.taxonomy.files.titles names data/mine/titles.csv, which")
    assert "only this clone, uncommitted" in message
    assert "\n  external: {titles.csv: ./data/mine/titles.csv}\n" in message
    assert message.endswith("\nand name it as titles.csv (ingest: folder: data/external)")


def test_synonyms_are_looked_for_too(tmp_path: Path) -> None:
    (tmp_path / "titles.csv").touch()
    (tmp_path / "raw.csv").touch()
    with pytest.raises(ProfileError, match=r"synonyms\.file names \./s\.csv.*\n.*s\.csv: /path/to"):
        require_files(tmp_path, params(".", "s.csv"), tmp_path / "main")
