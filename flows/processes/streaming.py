"""Runs a command in its own process group and passes on its lines as they come.

`flows/processes/guard.py` ends the group when the command ends, when an exception interrupts the
reading, and when this process is killed. If the command is silent for ten seconds, a line says that
it is still running.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from flows.environment import stage_environment
from tasks.io.masked import masked

GUARD = Path(__file__).with_name("guard.py")
SECONDS_OF_SILENCE = 10.0
SECONDS_TO_END = 3.0  # for DVC to release its locks when interrupted, before it is killed
Show = Callable[[str], None]  # takes a line as it comes


def stream(command: Sequence[str], folder: Path, show: Show) -> tuple[int, list[str]]:
    """Run `command` in `folder` and show each line of stdout and stderr as it comes.

    Returns:
        The exit status (128 + signal when a signal ended it) and all lines, without line ends.
    """
    with guarded(command, folder) as process:
        assert process.stdout is not None
        lines = follow(process.stdout, show)
        return process.wait(), lines


def follow(output: Iterable[str], show: Show) -> list[str]:
    """Show each line as it comes, and a sign of life while none comes; return all lines.

    Secrets of addresses are masked.
    """
    lines: list[str] = []
    with _sign_of_life(lines, show):
        for line in output:
            lines.append(masked(line.rstrip()))
            show(lines[-1])
    return lines


@contextmanager
def guarded(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    seconds_to_end: float | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Run `command` below the guard for the time of the block; stderr goes where stdout does.

    `environment`: None is that of a stage; `stdout`: the caller reads a pipe; `seconds_to_end`:
    None is `SECONDS_TO_END`.
    """
    seconds = SECONDS_TO_END if seconds_to_end is None else seconds_to_end
    process = subprocess.Popen(
        [sys.executable, "-P", str(GUARD), str(seconds), *command],
        cwd=folder,
        env=environment or stage_environment(),
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    assert process.stdin is not None
    with process:
        try:
            yield process
        finally:
            process.stdin.close()  # the guard then ends the group, if it still runs
            process.wait()


@contextmanager
def _sign_of_life(lines: Sequence[str], show: Show) -> Iterator[None]:
    """Show a line whenever `lines` has not grown for `SECONDS_OF_SILENCE`."""
    start, ended = time.monotonic(), threading.Event()

    def watch() -> None:
        count = len(lines)
        while not ended.wait(SECONDS_OF_SILENCE):
            if len(lines) == count:
                show(f"... still running after {time.monotonic() - start:.0f} s")
            count = len(lines)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
