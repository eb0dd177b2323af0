"""A command as a process group of its own: its lines as they come, and no survivor.

`flows/processes/guard.py` ends the group when the command ends, when an exception (a cancellation,
Ctrl-C) interrupts the reading here, and when this process is killed. While it says nothing, a line
every ten seconds says that it is still at work.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from flows.quiet import stage_environment

GUARD = Path(__file__).with_name("guard.py")
SECONDS_OF_SILENCE = 10.0
SECONDS_TO_END = 3.0  # for DVC to release its locks when interrupted, before it is killed


def stream(
    command: Sequence[str], folder: Path, say: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Run `command` in `folder`; give each line of stdout and stderr to `say` as it comes.

    Returns:
        The exit status (128 + signal when a signal ended it) and all lines, without line ends.
    """
    with running(command, folder) as process:
        assert process.stdout is not None
        lines = follow(process.stdout, say)
        return process.wait(), lines


def running(command: Sequence[str], folder: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    """Run `command` in `folder` for the time of the block; stdout and stderr are to be read."""
    return guarded(command, folder, stage_environment(), stdout=subprocess.PIPE)


def follow(output: Iterable[str], say: Callable[[str], None]) -> list[str]:
    """Give each line to `say` as it comes, a sign of life while none comes; return them all."""
    lines: list[str] = []
    with _sign_of_life(lines, say):
        for line in output:
            lines.append(line.rstrip())
            say(lines[-1])
    return lines


@contextmanager
def guarded(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, stdout: int
) -> Iterator[subprocess.Popen[str]]:
    """Run `command` below the guard for the time of the block; stderr goes where stdout does."""
    process = subprocess.Popen(
        [sys.executable, "-P", str(GUARD), str(SECONDS_TO_END), *command],
        cwd=folder,
        env=environment,
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
            process.stdin.close()  # the guard's sign to end the group, if it still runs
            process.wait()


@contextmanager
def _sign_of_life(lines: Sequence[str], say: Callable[[str], None]) -> Iterator[None]:
    """Say so whenever no line was added for `SECONDS_OF_SILENCE`."""
    began, ended = time.monotonic(), threading.Event()

    def watch() -> None:
        seen = len(lines)
        while not ended.wait(SECONDS_OF_SILENCE):
            if len(lines) == seen:
                say(f"... at work for {time.monotonic() - began:.0f} s")
            seen = len(lines)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
