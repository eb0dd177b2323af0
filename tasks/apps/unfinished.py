"""The folder in which an output is made, `NAME.unfinished` beside its place: one run at a time.

A lock keeps other runs out. Nothing but a run's own files may lie in it, so that no run empties or
renames a folder that is somebody else's.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tasks.io.command import listed

UNFINISHED, LOCK = ".unfinished", ".lock"


class OutputError(ValueError):
    """A place that cannot be written; the message says what to do."""


def unfinished_at(place: Path) -> Path:
    """Return where the output of a place lies until it is whole."""
    return place.with_name(place.name + UNFINISHED)


def require_free(place: Path) -> None:
    """Refuse a path that is taken, with an OutputError."""
    if place.exists():
        raise OutputError(f"{place} is there already: name another place, or remove it")


@contextmanager
def unfinished(place: Path, own: re.Pattern[str]) -> Iterator[Path]:
    """Make the folder of the output `place`, or take an interrupted run's, and lock it meanwhile.

    `own` matches the names of all files that a run writes. An OutputError says that another run is
    at work, or the folder holds other files, or cannot be made.
    """
    folder = unfinished_at(place)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder} is not a folder: remove it, or name another output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from None
    refuse_foreign(folder, own)
    lock = _locked(folder)
    try:
        yield folder
    finally:
        if _is_at(lock, folder / LOCK):  # else the folder has its final name
            (folder / LOCK).unlink()
            with suppress(OSError):  # it holds what the next run continues
                folder.rmdir()
        os.close(lock)


def refuse_foreign(folder: Path, own: re.Pattern[str]) -> None:
    """Raise OutputError if a folder holds what no run has written."""
    names = sorted(path.name for path in folder.iterdir())
    if foreign := [name for name in names if name != LOCK and not own.fullmatch(name)]:
        raise OutputError(
            f"{folder} holds files of somebody else ({listed(foreign)}): move them away, or name "
            "another output"
        )


def _locked(folder: Path) -> int:
    """Lock a folder and return the lock, an open file."""
    advice = "wait until it has ended, or name another output"
    in_use = OutputError(f"another run writes {folder}: {advice}")
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except FileNotFoundError:  # that run has ended just now
        raise in_use from None
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}") from None
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(lock, folder / LOCK):
            return lock
    os.close(lock)
    raise in_use


def _is_at(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except FileNotFoundError:
        return False
