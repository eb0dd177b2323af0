"""Errors that a user can act on, and the end of a command: one message and an exit status.

A `Failure` holds a message that says what to do; so do the errors of `tasks/io/command.py` and of a
file or a server that cannot be reached. The traceback of any other error goes to a log.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from flows.environment import enclosing_root
from tasks.io.command import is_reported
from tasks.io.tracking import masked

ERROR_STARTS = ("error: ", "Traceback (most recent call last)")  # of our messages, and Python's
DVC_REMARK = re.compile(r"ERROR: failed to reproduce .*failed to run: ")  # on a stage's own error
MOST_LINES = 5  # of output that is shown instead of a message
RAISED_AT = re.compile(r"\(\w+ in .+, line \d+\)$")
MAX_LINES, MAX_CHARACTERS = 10, 1000  # of a command's message, and of its lines
# the beginnings of Prefect's lines about a failed run at level INFO
FAILURE_STARTS = ("Finished in state Failed", "Finished in state Crash", "Running hook ", "Hook ")
AGAIN = 0.1  # seconds until a signal is sent again: the callback that dropped it is then done


class Failure(RuntimeError):
    """The program works, but the input or its surroundings do not."""


class StageFailed(Failure):
    """A command of the pipeline ended with an error; the message holds the command's message."""


def command_failed(name: str, status: int, lines: Sequence[str]) -> StageFailed:
    """Return the error of a command: its message, DVC's own, its last lines, or its exit status."""
    errors = [line for line in lines if line.startswith("ERROR: ")]
    causes = [line.removeprefix("ERROR: ") for line in errors if not DVC_REMARK.match(line)]
    last = _without_dvc(lines)[-MOST_LINES:]
    message = error_message(lines) or causes or last or [f"exit status {status}"]
    return StageFailed("\n".join([*[f"{name} failed"] * bool(name), *message]))


def error_message(lines: Sequence[str]) -> list[str]:
    """Return the last error message in a command's output, or nothing.

    Marks and DVC's remark are removed; of a traceback the exception's own lines stay.
    """
    starts = [n for n, line in enumerate(lines) if line.startswith(ERROR_STARTS)]
    if not starts:
        return []
    message = _without_dvc(lines[starts[-1] :])
    if message[0].startswith(ERROR_STARTS[1]):
        frames = [n for n, line in enumerate(message) if line.startswith('  File "')]
        behind = message[frames[-1] if frames else 0 :]
        first = next((n for n, line in enumerate(behind) if n and line[0] != " "), len(behind))
        return behind[first : first + MOST_LINES]
    end = next((n for n, line in enumerate(message) if RAISED_AT.match(line)), len(message))
    return [message[0].removeprefix(ERROR_STARTS[0]), *message[1:end]]


def first_lines(lines: Sequence[str], most: int = 10) -> list[str]:
    """Return the first lines of a message, and how many more there are."""
    return [*lines[:most], *([f"and {len(lines) - most:,} more"] if len(lines) > most else [])]


def _without_dvc(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line and not line.startswith("ERROR: ")]


@contextmanager
def error_handling(log: Path | None = None) -> Iterator[None]:
    """Turn an error into a message and an exit status; a fault's traceback goes to a log."""
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _interrupt)
    sys.unraisablehook = _send_again
    try:
        yield
    except KeyboardInterrupt as interrupt:
        sign = interrupt.args[0] if interrupt.args else signal.SIGINT
        _end("interrupted: run the same command again to continue", 128 + sign)
    except Exception as error:
        if isinstance(error, (Failure, ImportError, OSError)) or is_reported(error):
            _end(f"error: {error}", 1, log)
        root = enclosing_root()
        if log is None and root is None:
            raise
        log = log or (root or Path()) / "logs/errors.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(masked(traceback.format_exc()))
        _end(f"error: {type(error).__name__}: {error}", 1, log)


@contextmanager
def log_to_file(log: Path) -> Iterator[None]:
    """Keep all log records in `log`, and keep errors off the terminal, where they come last."""
    from prefect.logging.configuration import setup_logging

    setup_logging()  # or Prefect takes the file's handler for the only one
    log.parent.mkdir(parents=True, exist_ok=True)
    root, file = logging.getLogger(), logging.FileHandler(log, mode="w", encoding="utf-8")
    file.setFormatter(_Masking("%(asctime)s  %(name)s  %(message)s"))
    with ExitStack() as ends:
        ends.callback(file.close)
        for handler in root.handlers:
            handler.addFilter(_is_progress)
            ends.callback(handler.removeFilter, _is_progress)
        root.addHandler(file)
        ends.callback(root.removeHandler, file)
        yield


class _Masking(logging.Formatter):
    """Leaves no secret of an address in a record or its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


def _is_progress(record: logging.LogRecord) -> bool:
    """Tell whether a record is no error and no remark of Prefect's about one."""
    return record.levelno < logging.ERROR and not record.getMessage().startswith(FAILURE_STARTS)


def _interrupt(sign: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(sign)


def _send_again(dropped: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose interrupt Python dropped, as in a weak reference's callback."""
    error = dropped.exc_value
    if isinstance(error, KeyboardInterrupt):
        sign = error.args[0] if error.args else signal.SIGINT
        threading.Timer(AGAIN, os.kill, (os.getpid(), sign)).start()
    else:
        sys.__unraisablehook__(dropped)


def _end(message: str, status: int, log: Path | None = None) -> NoReturn:
    """Print the message and the path of the log, and exit; a closed terminal is no error.

    Logging stops first, or libraries that log while they close would write behind the message.
    """
    lines = masked(message).strip().splitlines()
    log_line = [f"full log: {log}"] if log is not None and log.is_file() else []
    room = MAX_LINES - len(log_line)
    if len(lines) > room:
        lines = [*lines[: room - 1], f"... {len(lines) - room + 1:,} more lines"]
    gap = [""] if log is not None else []  # behind a flow's progress
    logging.disable()
    with suppress(OSError):
        print(*gap, *map(_shortened, lines), *log_line, sep="\n", file=sys.stderr, flush=True)
    raise SystemExit(status)


def _shortened(line: str) -> str:
    """Cut a long line in the middle: it begins with the fault and ends with the remedy."""
    if len(line) <= MAX_CHARACTERS:
        return line
    half = MAX_CHARACTERS // 2
    return f"{line[:half]} ... {len(line) - 2 * half:,} more characters ... {line[-half:]}"
