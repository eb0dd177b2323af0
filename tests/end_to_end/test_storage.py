"""DVC as its users know it: push, and pull in a second clone.

`--with-deps report`, because here the other stages of `table3` have never run: without it DVC warns
of what it cannot push, and pulls and checks out all that it can, and then fails for the rest.
"""

from __future__ import annotations

import pytest
from clones import IN_GIT, Clone, fresh_clone

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def working(small: Clone, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """Make a finished pipeline to go on from; its remote is the folder of `.dvc/config`."""
    return small.copied(tmp_path_factory.mktemp("storage"))


def test_push_clone_pull(small: Clone, working: Clone) -> None:
    """Run nothing in the second clone: all of it comes from the remote beside the two."""
    assert "WARNING" not in working.dvc("push", "--with-deps", "report")
    remote = working.root.parent / "rolecall-storage"
    assert any(file.is_file() for file in remote.rglob("*"))
    assert working.is_up_to_date()

    parent = working.root.parent / "below"
    second = fresh_clone(parent, working.home, source=working.root)
    assert second.files().keys() <= IN_GIT
    remote.rename(parent / "rolecall-storage")
    second.dvc("pull", "--with-deps", "report")
    assert second.files() == small.files()
    assert second.is_up_to_date()
    assert second.changed() == ""
    assert "Running stage" not in second.dvc("repro", "report")
