"""Errors whose message tells the user what to do, so that no traceback is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence

ERROR_STARTS = ("error: ", "Traceback (most recent call last)")
"""The beginnings of error messages: ours (`tasks/io/command.py`) and Python's."""
RAISED_AT = re.compile(r"\(\w+ in .+, line \d+\)$")


class Failure(RuntimeError):
    """The program works, but the input or its surroundings do not."""


class StageFailed(Failure):
    """A command of the pipeline ended with an error; the message holds the command's message."""


def error_message(lines: Sequence[str]) -> list[str]:
    """Return the last error message in a command's output, or nothing.

    The mark `error: `, the source line and DVC's own remark are removed. Of a traceback only
    Python's last line stays.
    """
    starts = [n for n, line in enumerate(lines) if line.startswith(ERROR_STARTS)]
    if not starts:
        return []
    message = _without_dvc(lines[starts[-1] :])
    if message[0].startswith(ERROR_STARTS[1]):
        return [line for line in message if not line.startswith(" ")][-1:]
    end = next((n for n, line in enumerate(message) if RAISED_AT.match(line)), len(message))
    return [message[0].removeprefix(ERROR_STARTS[0]), *message[1:end]]


def command_failed(name: str, status: int, lines: Sequence[str]) -> StageFailed:
    """Return the error of a command: its message, or its last lines, or its exit status."""
    message = error_message(lines) or _without_dvc(lines)[-5:] or [f"exit status {status}"]
    return StageFailed("\n".join([*([f"{name} failed"] if name else []), *message]))


def _without_dvc(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line and not line.startswith("ERROR: ")]
