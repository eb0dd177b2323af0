"""`params.yaml` as a whole, checked before anything starts.

The stages before training would run for minutes without looking at what a network cannot use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from flows.failure import StageFailed, last_words
from flows.processes.streaming import stream

PASSED: set[tuple[Path, bytes]] = set()
"""What this process has checked: a command looks before a server starts, its flow once more."""


def check_params(root: Path, say: Callable[[str], None]) -> None:
    """Refuse parameters that some stage cannot work with.

    Raises:
        StageFailed: with the offending values and what is allowed.
    """

    def until_the_error(line: str) -> None:
        lines.append(line)
        if not last_words(lines):
            say(line)

    file = root / "params.yaml"
    checked = (root.resolve(), file.read_bytes() if file.is_file() else b"")
    if checked in PASSED:
        return
    lines: list[str] = []
    status, _ = stream([sys.executable, "-m", "tasks.params.whole"], root, until_the_error)
    if status:
        raise StageFailed("\n".join(last_words(lines) or lines))
    PASSED.add(checked)
