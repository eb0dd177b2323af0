"""Processes side by side: the lock of a registry, and temporary folders that a kill leaves.

MLflow has no compare-and-swap, so those who register or promote take turns. The lock lies where the
registry does: a file beside SQLite's, an advisory lock in PostgreSQL. For a tracking server, whose
database is unknown, a file in the main tree holds for the runs of this machine alone. The next
process removes a temporary folder that nobody locks.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from tasks.io.tracking import SQLITE, local_folder, tracking_uri

POSTGRESQL = "postgresql"
EVERY = 0.2  # seconds between two tries
FOLDER = "tmp"  # beside the default registry, which git ignores


@contextmanager
def champion_lock(root: Path) -> Iterator[None]:
    """Wait until no other process changes the registry of `root`, and be the one."""
    uri = tracking_uri(root)
    if uri.startswith(POSTGRESQL):
        with _in_postgresql(uri):
            yield
        return
    file = Path(f"{uri.removeprefix(SQLITE)}.lock") if uri.startswith(SQLITE) else None
    file = file or local_folder(root) / "champion.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:

        def taken() -> bool:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            return False

        _wait(taken)
        yield


def scratch_folder(root: Path) -> AbstractContextManager[Path]:
    """Yield a folder for copies of models in the main tree of `root`, for the time of the block."""
    return own_folder(local_folder(root) / FOLDER)


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder in `parent`, which holds none but such, and remove it at the end."""
    parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as ends:
        with _locked(parent):  # else a folder may go before its maker locks it
            for rest in parent.glob("*/"):
                with suppress(OSError), _locked(rest, fcntl.LOCK_NB):  # in use, or not ours
                    shutil.rmtree(rest)
            folder = Path(tempfile.mkdtemp(dir=parent))
            ends.enter_context(_locked(folder))
            ends.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Let `tempfile` work in `folder` meanwhile: MLflow copies a model there when it logs it."""
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def _in_postgresql(uri: str) -> Iterator[None]:
    from sqlalchemy import create_engine, text
    from sqlalchemy.pool import NullPool

    key = {"key": zlib.crc32(b"rolecall: champion")}
    with create_engine(uri, poolclass=NullPool).connect() as connection:
        query = text("SELECT pg_try_advisory_lock(:key)")
        _wait(lambda: bool(connection.execute(query, key).scalar()))
        yield  # the lock goes with the connection


def _wait(taken: Callable[[], bool]) -> None:
    if not taken():
        print("another run registers or promotes a version: waiting for it", flush=True)
        while not taken():
            time.sleep(EVERY)


@contextmanager
def _locked(folder: Path, wait: int = 0) -> Iterator[None]:
    """Lock a folder for the time of the block; BlockingIOError if `wait` is LOCK_NB."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | wait)
        yield
    finally:
        os.close(handle)
