"""The same bytes by another way, in another place, with other threads, hashes, zone and locale."""

from pathlib import Path

import pytest
from clones import IN_GIT, MODEL, PIPELINE, Clone, fresh_clone

pytestmark = pytest.mark.slow


def test_flow_and_bare_repro_write_the_same_bytes_and_lock(
    small: Clone, retrained: tuple[Clone, str]
) -> None:
    """Compare a bare `dvc repro report` in two threads with the flow in one, under `OTHER`."""
    clone, printed = retrained
    files = clone.files()
    assert files == small.files()
    assert {name.split("/")[1] for name in files} == {*PIPELINE} - {"table3"}
    assert f"evaluate@{MODEL} ran, report ran" in printed
    assert clone.lock == small.lock
    assert str(clone.root) not in clone.lock
    assert not any(str(clone.root).encode() in (clone.root / name).read_bytes() for name in files)


def test_push_clone_pull(small: Clone, tmp_path: Path) -> None:
    """Run nothing in the second clone: all of it comes from the remote beside the two.

    `--with-deps report`, because here the other stages of `table3` have never run.
    """
    working, below = small.copied(tmp_path), tmp_path / "below"
    assert "WARNING" not in working.dvc("push", "--with-deps", "report")
    remote = tmp_path / "rolecall-storage"
    assert any(file.is_file() for file in remote.rglob("*"))
    assert working.is_up_to_date()

    second = fresh_clone(below, working.home, source=working.root)
    assert second.files().keys() <= IN_GIT
    remote.rename(below / "rolecall-storage")
    second.dvc("pull", "--with-deps", "report")
    assert second.files() == small.files()
    assert second.is_up_to_date()
    assert second.changed() == ""
    assert "Running stage" not in second.dvc("repro", "report")
