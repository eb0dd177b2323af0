"""Files that appear whole or not at all: temporary file, fsync, rename."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is flushed and takes `path`'s place.

    A killed or failed writer leaves the old file or none, never half a file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_bytes(content: bytes, path: Path) -> None:
    """Write `content` to `path`, whole or not at all."""
    with atomic_write(path) as partial:
        partial.write_bytes(content)
