"""Errors of the disk in words: it is full, or what a folder keeps is damaged."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

FULL = "database or disk is full"
DAMAGED = (pa.ArrowException, OSError, sqlite3.DatabaseError)


def is_disk_full(error: Exception) -> bool:
    """Tell whether there was no room, whichever library says so."""
    return getattr(error, "errno", None) == errno.ENOSPC or any(
        text in str(error) for text in (FULL, os.strerror(errno.ENOSPC))
    )


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Read what a folder of answers keeps; ValueError, with what to do, if it is damaged."""
    try:
        yield
    except DAMAGED as error:
        if is_disk_full(error):
            raise
        raise ValueError(
            f"the kept answers in {folder} cannot be used ({error}): remove this folder and run "
            "again, which asks the model anew, or name another one: --cache-dir"
        ) from None
