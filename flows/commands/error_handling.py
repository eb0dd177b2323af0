"""Ends a command: one message at the end, an exit status, and no process left running.

Tracebacks and the full output of a failed stage go to `logs/COMMAND.log` below the root.
`flows/processes/guard.py` ends child processes, even after a kill.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from flows.failure import Failure
from tasks.io.masked import masked

MAX_LINES, MAX_CHARACTERS = 10, 1000  # of a message, and of its lines
FAILURE_STARTS = ("Finished in state Failed", "Finished in state Crash", "Running hook ", "Hook ")
"""The beginnings of Prefect's lines about a failed run at level INFO."""
AGAIN = 0.1
"""Seconds after which a signal is sent again, when the callback that dropped it is done."""


@contextmanager
def error_handling(log: Path | None = None) -> Iterator[None]:
    """Turn an error of the block into a message and an exit status.

    `log` takes the traceback of an unexpected error; without it the error is raised.
    """
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _interrupt)
    sys.unraisablehook = _send_again
    try:
        yield
    except Failure as error:
        _end(f"error: {error}", 1, log)
    except KeyboardInterrupt as interrupt:
        sign = interrupt.args[0] if interrupt.args else signal.SIGINT
        _end("interrupted: run the same command again to continue", 128 + sign)
    except Exception as error:
        if log is None:
            raise
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
    terminal = list(root.handlers)
    root.addHandler(file)
    for handler in terminal:
        handler.addFilter(_is_progress)
    try:
        yield
    finally:
        root.removeHandler(file)
        file.close()
        for handler in terminal:
            handler.removeFilter(_is_progress)


class _Masking(logging.Formatter):
    """Leaves no secret of an address in a record or its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))


def _is_progress(record: logging.LogRecord) -> bool:
    """Tell whether a record is progress, not an error or Prefect's remark about one."""
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
    """Print the message and the place of the log, and exit; a closed terminal is no error.

    Logging stops first, or libraries that log while they close would write behind the message.
    """
    lines = masked(message).strip().splitlines()
    log_line = [f"full log: {log}"] if log is not None and log.is_file() else []
    room = MAX_LINES - len(log_line)
    if len(lines) > room:
        lines = [*lines[: room - 1], f"... {len(lines) - room + 1:,} more lines"]
    lines = [_shortened(line) for line in lines]
    logging.disable()
    with suppress(OSError):
        print("\n".join(["", *lines, *log_line]), file=sys.stderr, flush=True)
    raise SystemExit(status)


def _shortened(line: str) -> str:
    """Cut a long line in the middle: it begins with the fault and ends with the remedy."""
    if len(line) <= MAX_CHARACTERS:
        return line
    half = MAX_CHARACTERS // 2
    return f"{line[:half]} ... {len(line) - 2 * half:,} more characters ... {line[-half:]}"
