"""The message of a command comes last, whatever libraries log while they close."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import atexit, logging
from flows.commands.error_handling import error_handling

atexit.register(logging.warning, "still processing 1 item")
logging.warning("one item")
with error_handling():
    raise KeyboardInterrupt
"""


def test_the_message_stands_last() -> None:
    """Prefect's events worker warns at exit, now and then, that it has not sent all events."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == (
        "WARNING:root:one item\n\ninterrupted: run the same command again to continue\n"
    )
