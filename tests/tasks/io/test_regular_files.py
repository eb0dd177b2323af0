"""Regular files may be opened. The check itself opens no file."""

import os
import socket
from pathlib import Path

import pytest

from tasks.io.regular_files import boundary, file_fault, file_faults


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/a.csv").write_text("a")
    return folder


def test_files_and_folders_are_fine(folder: Path) -> None:
    (folder / "same.csv").symlink_to("sub/a.csv")
    assert not [*file_faults(folder, folder)]
    assert not file_fault(folder / "removed meanwhile")


def test_what_would_never_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "sub/pipe.csv")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "ring.csv").symlink_to("ring.csv")
    monkeypatch.chdir(folder)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket.csv")
        texts = [*dict(file_faults(folder)).values()]
    assert texts[1:] == [
        f"{folder}/socket.csv is a socket",
        f"{folder}/zero.csv is a device",
        f"{folder}/sub/pipe.csv is a pipe",
    ]
    assert texts[0].startswith(f"{folder}/ring.csv ")


def test_links_that_lead_out(folder: Path) -> None:
    (folder.parent / "secret").write_text("secret")
    (folder.parent / "in2").mkdir()
    (folder / "secret.csv").symlink_to("../secret")
    (folder / "beside.csv").symlink_to("../in2")
    (folder / "ring").symlink_to(".")
    assert not [*file_faults(folder)], "where links are followed"
    assert [*dict(file_faults(folder, folder)).values()] == [
        f"{folder}/beside.csv is a link that leads out of {folder}",
        f"{folder}/ring is a link to a folder",
        f"{folder}/secret.csv is a link that leads out of {folder}",
    ]


def test_the_folder_itself_may_be_a_link(folder: Path) -> None:
    way = folder.parent / "way"
    way.symlink_to(folder)
    assert not [*file_faults(way, way)]
    (folder / "passwd.csv").symlink_to("/etc/passwd")
    fault = f"{way}/passwd.csv is a link that leads out of {way}"
    assert [*file_faults(way, way)] == [(way / "passwd.csv", fault)]


def test_dvc_may_link_to_its_cache() -> None:
    assert boundary(Path("data/external/mine")) is None
    assert boundary(Path("feedback/mine")) == Path("feedback/mine")
