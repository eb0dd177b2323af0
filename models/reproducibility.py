"""Seeds by name, files that appear whole or not at all, and the progress of a long loop."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

SECONDS = 8.0  # so that with the work between two looks a line comes at least every ten


def child_seed(seed: int, *names: str) -> int:
    """Return a 63-bit seed that depends on `seed` and the names, and on nothing else."""
    digest = hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a fresh generator for one use, e.g. ``generator(params.seed, "typos", "test")``."""
    return np.random.default_rng(child_seed(seed, *names))


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which is flushed and renamed to `path` on success."""
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


class Progress:
    """Counts `what` from `start` to `total` and tells `say` at most every `SECONDS`."""

    def __init__(
        self, what: str, total: int, say: Callable[[str], None] = print, start: int = 0
    ) -> None:
        self.what, self.total, self.say, self.start = what, total, say, start
        self._began = self._reported = time.monotonic()

    def __call__(self, done: int) -> None:
        """Note that `done` are done."""
        now = time.monotonic()
        if now - self._reported >= SECONDS and done < self.total:
            speed = max(done - self.start, 1) / (now - self._began)
            left = (self.total - done) / speed
            where = f"{self.what} {done:,} of {self.total:,}"
            self.say(f"{where}, {speed:,.1f}/s, some {left:,.0f} s left")
            self._reported = now
