"""Temporary folders for copies of models, in the clone: the next one removes what a kill left.

A process holds a lock on its folder as long as it lives; a folder that nobody locks is a rest.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tasks.io.tracking import local_folder

FOLDER = "tmp"  # beside the default registry, which git ignores


@contextmanager
def scratch_folder(root: Path) -> Iterator[Path]:
    """Yield a new folder in the main tree of `root`, and remove it at the end."""
    place = local_folder(root) / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as turn:  # else a folder may go before its maker locks it
        fcntl.flock(turn, fcntl.LOCK_EX)
        for rest in place.glob("*/"):
            _remove_unlocked(rest)
        folder = Path(tempfile.mkdtemp(dir=place))
        handle = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Let `tempfile` work in `folder` meanwhile: MLflow copies a model there when it logs it."""
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _locked(folder: Path) -> int:
    """Lock a folder for this process; a BlockingIOError says that another one has it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _remove_unlocked(folder: Path) -> None:
    with suppress(OSError):  # in use, or another user's
        handle = _locked(folder)
        shutil.rmtree(folder)
        os.close(handle)
