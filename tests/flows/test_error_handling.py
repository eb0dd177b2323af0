"""The message of a command comes last, whatever libraries log while they close."""

from __future__ import annotations

import subprocess
import sys

from flows.commands.error_handling import MAX_CHARACTERS, MAX_LINES

PROGRAM = """
import atexit, logging
from flows.commands.error_handling import error_handling

atexit.register(logging.warning, "still processing 1 item")
logging.warning("one item")
with error_handling():
    raise KeyboardInterrupt
"""


LONG = """
from flows.commands.error_handling import error_handling
from flows.failure import Failure

names = ", ".join(map(str, range(200_000)))
with error_handling():
    raise Failure("\\n".join([f"too many: {names}; name one", *["line"] * 200_000]))
"""


def test_a_long_message_is_shortened() -> None:
    """200,000 names on a line, and as many lines; the fault and the remedy stay."""
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == MAX_LINES and lines[-1] == "... 199,992 more lines"
    assert lines[0].startswith("error: too many: 0, 1,") and lines[0].endswith("199999; name one")
    assert len(lines[0]) < 2 * MAX_CHARACTERS


def test_the_message_stands_last() -> None:
    """Prefect's events worker warns at exit, now and then, that it has not sent all events."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == (
        "WARNING:root:one item\n\ninterrupted: run the same command again to continue\n"
    )
