"""The folder of an output in the making: one run at a time, and nobody else's files."""

import os
import re
from pathlib import Path

import pytest

from tasks.apps.unfinished import OutputError, unfinished

OWN = re.compile("own.*")


def test_a_second_run_ends_at_once_and_changes_nothing(tmp_path: Path) -> None:
    with unfinished(tmp_path / "out", OWN) as folder:
        (folder / "own").touch()
        with pytest.raises(OutputError, match=r"another run writes .*out\.unfinished: wait"):
            unfinished(tmp_path / "out", OWN).__enter__()
        assert sorted(path.name for path in folder.iterdir()) == [".lock", "own"]
        with unfinished(tmp_path / "other", OWN):
            pass
    assert [path.name for path in tmp_path.rglob("*")] == ["out.unfinished", "own"]
    with unfinished(tmp_path / "out", OWN) as folder:
        (folder / "own").unlink()
    assert not folder.exists()


def test_a_folder_with_its_final_name_keeps_nothing_of_the_lock(tmp_path: Path) -> None:
    """A run that begins meanwhile has a folder of its own, which this one does not touch."""
    with unfinished(tmp_path / "out", OWN) as folder:
        folder.rename(tmp_path / "out")
        (tmp_path / "out/.lock").unlink()
        with unfinished(tmp_path / "out", OWN) as second:
            assert second.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["mine.csv", "sub/mine.csv", ".hidden"])
def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path, name: str) -> None:
    file = tmp_path / "out.unfinished" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(OutputError, match="holds files of somebody else"):
        unfinished(tmp_path / "out", OWN).__enter__()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_a_file_or_a_link_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.unfinished").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "b.unfinished").symlink_to(tmp_path / "elsewhere")
    for name in "ab":
        with pytest.raises(OutputError, match="is not a folder: remove it"):
            unfinished(tmp_path / name, OWN).__enter__()
    assert not [*(tmp_path / "elsewhere").iterdir()]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot be made: Permission denied"):
        unfinished(tmp_path / "out", OWN).__enter__()
