"""How a command ends: its message once and last, an exit status, nothing of ours left running.

On the terminal stand the lines of the work; tracebacks, and the words of a stage that failed, stand
in `logs/COMMAND.log` below the root beside these lines. Processes are ended by
`flows/processes/guard.py`, even after a kill that lets nothing run here.
"""

from __future__ import annotations

import logging
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from flows.failure import Failure

GOES_ON = "interrupted: the same command goes on where it stopped"
SIGNALS = (signal.SIGTERM, signal.SIGHUP)
LINES = 10  # of a message, at most
OF_A_FAILURE = ("Finished in state Failed", "Finished in state Crash", "Running hook ", "Hook ")
"""How Prefect begins what it notes of a run that failed, at level INFO."""


class Interrupted(KeyboardInterrupt):
    """A signal that asks this process to end; like Ctrl-C to all who clean up after that."""

    def __init__(self, sign: int) -> None:
        super().__init__()
        self.sign = sign


@contextmanager
def ending(log: Path | None = None) -> Iterator[None]:
    """End the process with a message and a status if the block does not end by itself.

    Args:
        log: takes the traceback of an error that nobody has put in words.
    """
    for sign in SIGNALS:
        signal.signal(sign, _interrupt)
    try:
        yield
    except Failure as error:
        _end(f"error: {error}", 1, log)
    except KeyboardInterrupt as interrupt:
        _end(GOES_ON, 128 + getattr(interrupt, "sign", signal.SIGINT))
    except Exception as error:
        if log is None:
            raise
        with log.open("a", encoding="utf-8") as file:
            traceback.print_exc(file=file)
        _end(f"error: {type(error).__name__}: {error}", 1, log)


@contextmanager
def logged(log: Path) -> Iterator[None]:
    """Keep all that is logged in `log`, and errors out of the terminal, where they come last."""
    from prefect.logging.configuration import setup_logging

    setup_logging()  # else Prefect takes the file's handler for all that is wanted
    log.parent.mkdir(parents=True, exist_ok=True)
    root, file = logging.getLogger(), logging.FileHandler(log, mode="w", encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s  %(name)s  %(message)s"))
    terminal = list(root.handlers)
    root.addHandler(file)
    for handler in terminal:
        handler.addFilter(_is_no_error)
    try:
        yield
    finally:
        root.removeHandler(file)
        file.close()
        for handler in terminal:
            handler.removeFilter(_is_no_error)


def _is_no_error(record: logging.LogRecord) -> bool:
    """Tell whether a record is progress; Prefect notes at level INFO that a run has failed."""
    return record.levelno < logging.ERROR and not record.getMessage().startswith(OF_A_FAILURE)


def _interrupt(sign: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted(sign)


def _end(message: str, status: int, log: Path | None = None) -> NoReturn:
    """Print the message, and where more stands; a closed terminal cannot be told.

    From then on nothing is logged: what libraries say while they close would stand behind it.
    """
    lines = message.strip().splitlines()
    rest = [f"everything that was said: {log}"] if log is not None and log.is_file() else []
    kept = LINES - len(rest)
    if len(lines) > kept:
        lines = [*lines[: kept - 1], "..."]
    logging.disable()
    with suppress(OSError):
        print("\n".join(["", *lines, *rest]), file=sys.stderr, flush=True)
    raise SystemExit(status)
