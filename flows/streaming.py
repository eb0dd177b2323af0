"""A command as a process group of its own: its lines as they come, and no survivor.

The group is ended when the command ends, when an exception (a cancellation, Ctrl-C) interrupts
the reading, and, through `flows/guard.py`, when this process is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from flows.quiet import stage_environment

GUARD = Path(__file__).with_name("guard.py")
SECONDS_TO_END = 3.0  # for DVC to release its locks after SIGINT, before the group is killed


def stream(
    command: Sequence[str], folder: Path, say: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Run `command` in `folder`; give each line of stdout and stderr to `say` as it comes.

    Returns:
        The exit status (128 + signal when a signal ended it) and all lines, without line ends.
    """
    lines: list[str] = []
    process = subprocess.Popen(
        [sys.executable, "-P", str(GUARD), *command],
        cwd=folder,
        env=stage_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line.rstrip())
                say(lines[-1])
            return process.wait(), lines
        finally:
            _end_group(process)


def _end_group(process: subprocess.Popen[str]) -> None:
    """Interrupt the group, give it a moment, then kill whatever is left of it."""
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(SECONDS_TO_END)
    except (subprocess.TimeoutExpired, ProcessLookupError):
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
