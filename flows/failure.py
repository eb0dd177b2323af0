"""What could not be done, in words that say what to do: all that a user sees of an error."""

from __future__ import annotations

import re
from collections.abc import Sequence

STAGES, PYTHONS = "error: ", "Traceback (most recent call last)"
"""How the last words of a command of the pipeline begin: its own (`tasks/files/command.py`), or
those of Python."""
PLACE = re.compile(r"\(\w+ in .+, line \d+\)$")


class Failure(RuntimeError):
    """An end that is no fault of the program; its message needs no traceback."""


class StageFailed(Failure):
    """A command of the pipeline ended with an error; the message holds its last words."""


def last_words(lines: Sequence[str]) -> list[str]:
    """Return a command's message, without its mark and place, or Python's last line; or nothing.

    What DVC adds, that the stage has failed, is left out.
    """
    starts = [n for n, line in enumerate(lines) if line.startswith((STAGES, PYTHONS))]
    if not starts:
        return []
    words = _own(lines[starts[-1] :])
    if words[0].startswith(PYTHONS):
        return [line for line in words if not line.startswith(" ")][-1:]
    end = next((n for n, line in enumerate(words) if PLACE.match(line)), len(words))
    return [words[0].removeprefix(STAGES), *words[1:end]]


def failed(what: str, status: int, lines: Sequence[str]) -> StageFailed:
    """Return a command's error: its last words, or else its last lines, or else its status."""
    words = last_words(lines) or _own(lines)[-5:] or [f"exit status {status}"]
    return StageFailed("\n".join([f"{what} failed", *words]))


def _own(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line and not line.startswith("ERROR: ")]
