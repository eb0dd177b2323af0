"""Temporary folders in the clone, of which the next one removes what a kill left.

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
    """Yield a folder for copies of models in the main tree of `root`, for the time of the block."""
    with own_folder(local_folder(root) / FOLDER) as folder:
        yield folder


@contextmanager
def own_folder(place: Path) -> Iterator[Path]:
    """Yield a new folder in `place`, whose folders are all made so, and remove it at the end."""
    place.mkdir(parents=True, exist_ok=True)
    turn = _locked(place)  # else a folder may go before its maker locks it
    try:
        for rest in place.glob("*/"):
            _remove_unlocked(rest)
        folder = Path(tempfile.mkdtemp(dir=place))
        handle = _locked(folder)
    finally:
        os.close(turn)
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


def _locked(folder: Path, wait: int = 0) -> int:
    """Lock a folder until the handle is closed; BlockingIOError if `wait` is LOCK_NB."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | wait)
    except OSError:
        os.close(handle)
        raise
    return handle


def _remove_unlocked(folder: Path) -> None:
    with suppress(OSError):  # in use, or another user's
        handle = _locked(folder, fcntl.LOCK_NB)
        shutil.rmtree(folder)
        os.close(handle)
