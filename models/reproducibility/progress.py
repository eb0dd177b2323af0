"""Progress lines of a long loop: position, speed, time left; no part of any result."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 8.0  # so that with the work between two looks a line comes at least every ten


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
