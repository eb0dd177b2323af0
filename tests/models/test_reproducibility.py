"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from models.reproducibility import atomic_write, write_bytes


def test_written_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    write_bytes(b"one", path)
    write_bytes(b"two", path)
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_failed_writer_leaves_what_was_there(tmp_path: Path, old: bytes | None) -> None:
    path = tmp_path / "file"
    if old:
        path.write_bytes(old)
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as partial:
        partial.write_bytes(b"half")
        assert path.exists() == bool(old)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == ([path] if old else [])
    assert not old or path.read_bytes() == old


def test_what_a_killed_writer_left_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".file.partial").write_bytes(b"much longer than the new one")
    write_bytes(b"new", tmp_path / "file")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file", b"new")]
