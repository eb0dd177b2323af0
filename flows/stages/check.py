"""Checks `params.yaml` as a whole before any stage starts.

Otherwise the stages before training would run for minutes on values that no network can use.
"""

from __future__ import annotations

from pathlib import Path

from flows.processes.command import run_command, until_error
from flows.processes.streaming import Show

CHECK = "tasks.check_params"
PASSED: set[tuple[Path, bytes]] = set()
"""What this process has checked: a command checks before a server starts, its flow once more."""


def check_params(root: Path, show: Show) -> None:
    """Refuse parameters that some stage cannot work with.

    Raises:
        StageFailed: with the offending values and what is allowed.
    """
    file = root / "params.yaml"
    content = (root.resolve(), file.read_bytes() if file.is_file() else b"")
    if content not in PASSED:
        run_command(CHECK, [], root, until_error(show))
        PASSED.add(content)
