"""Child processes in their own process groups, whose lines are passed on as they come.

`flows/guard.py` ends a group when the command ends, when an exception interrupts the reading, and
when this process is killed. If a command is silent for ten seconds, a line says that it still runs.
"""

from __future__ import annotations

import contextvars
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from flows.environment import stage_environment
from flows.errors import ERROR_STARTS, command_failed
from tasks.io.tracking import masked

GUARD = Path(__file__).with_name("guard.py")
SECONDS_OF_SILENCE = 10.0
SECONDS_TO_END = 3.0  # for DVC to release its locks when interrupted, before it is killed
Show = Callable[[str], None]  # takes a line as it comes


def show_line(line: str) -> None:
    """Print a line at once; within a step of a flow it becomes a line of Prefect's log."""
    print(line, flush=True)


def run_module(module: str, arguments: Sequence[str], root: Path, *, name: str = "") -> None:
    """Run `python -m module` in `root` and print its lines; a StageFailed holds its own message."""
    status, lines = stream([sys.executable, "-m", module, *arguments], root, until_error(show_line))
    if status:
        raise command_failed(name, status, lines)


def check_params(root: Path) -> None:
    """Refuse parameters before any stage runs for minutes; a StageFailed says what is allowed."""
    run_module("tasks.check_params", [], root)


def until_error(show: Show) -> Show:
    """Show lines up to an error message, because the error that is raised repeats it."""
    failing = False

    def show_progress(line: str) -> None:
        nonlocal failing
        failing = failing or line.startswith(ERROR_STARTS)
        if not failing:
            show(line)

    return show_progress


def stream(command: Sequence[str], folder: Path, show: Show) -> tuple[int, list[str]]:
    """Run `command` in `folder` and show each line of stdout and stderr as it comes.

    Returns its exit status (128 + the signal that ended it) and all lines, without line ends.
    """
    with guarded(command, folder) as process:
        assert process.stdout is not None
        lines = follow(process.stdout, show)
        return process.wait(), lines


def follow(output: Iterable[str], show: Show) -> list[str]:
    """Show each line as it comes, masked, and a sign of life while none comes; return all lines."""
    lines = list[str]()
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

    `environment`: None is that of a stage; `seconds_to_end`: None is `SECONDS_TO_END`.
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

    run = contextvars.copy_context().run  # a flow's lines are logged by its context
    watcher = threading.Thread(target=run, args=(watch,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
