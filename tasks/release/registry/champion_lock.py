"""A lock on the registry, since MLflow has no compare-and-swap: versions and champions take turns.

It lies where the registry does, so that it holds for all who use it: a file beside SQLite's, an
advisory lock in PostgreSQL. The database of a tracking server is unknown: there a file in the main
tree holds for the runs of this machine alone. A process that ends releases the lock.
"""

from __future__ import annotations

import fcntl
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tasks.io.tracking import SQLITE, local_folder, tracking_uri

POSTGRESQL = "postgresql"
EVERY = 0.2  # seconds between two tries


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
        _wait(lambda: _locked(lock.fileno()))
        yield


def _locked(handle: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


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
