"""Errors whose message tells the user what to do, so that no traceback is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ERROR_STARTS = ("error: ", "Traceback (most recent call last)")
"""The beginnings of error messages: ours (`tasks/io/command.py`) and Python's."""
DVC_REMARK = re.compile(r"ERROR: failed to reproduce .*failed to run: ")
"""The remark that DVC adds to the message of a stage's own command."""
MOST_LINES = 5  # of output that is shown instead of a message
RAISED_AT = re.compile(r"\(\w+ in .+, line \d+\)$")


class Failure(RuntimeError):
    """The program works, but the input or its surroundings do not."""


class StageFailed(Failure):
    """A command of the pipeline ended with an error; the message holds the command's message."""


@contextmanager
def errors_of_input() -> Iterator[None]:
    """Raise an error about the input, from the block, as a Failure.

    An ImportError names the package that an address such as `s3://` needs, an OSError what its
    server refused.
    """
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        raise Failure(str(error)) from None


def error_message(lines: Sequence[str]) -> list[str]:
    """Return the last error message in a command's output, or nothing.

    The mark `error: `, the source line and DVC's own remark are removed. Of a traceback only the
    exception stays, with all lines of its message.
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


def command_failed(name: str, status: int, lines: Sequence[str]) -> StageFailed:
    """Return the error of a command: its message, or its last lines, or its exit status."""
    last = _without_dvc(lines)[-MOST_LINES:]
    message = error_message(lines) or _of_dvc(lines) or last or [f"exit status {status}"]
    return StageFailed("\n".join([*([f"{name} failed"] if name else []), *message]))


def _of_dvc(lines: Sequence[str]) -> list[str]:
    """Return DVC's own errors, which are the cause if the stage's command has not run."""
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return [line.removeprefix("ERROR: ") for line in errors if not DVC_REMARK.match(line)]


def _without_dvc(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line and not line.startswith("ERROR: ")]
